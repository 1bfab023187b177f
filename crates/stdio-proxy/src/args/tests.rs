//! What the arguments of `tabmux mcp` mean.

use super::*;
use tabmux_protocol::session::EndpointAddress;

fn args(words: &[&str]) -> Result<Args, String> {
    let words = ["tabmux", "mcp"].iter().chain(words);
    let alone: Complete = |_, words, _| Ok(words);
    Args::of(words.map(OsString::from), alone).map_err(|error| error.to_string())
}

#[track_caller]
fn options(words: &[&str]) -> SessionOptions {
    let kinds = || {
        let kind = |name| Kind {
            name,
            opt_in: name == "screencast",
        };
        [
            "input",
            "navigation",
            "emulation",
            "performance",
            "network",
            "debugging",
            "screencast",
        ]
        .map(kind)
        .to_vec()
    };
    let args = args(words).unwrap();
    args.options(kinds, |origin| Ok(vec![origin.to_owned()]))
        .unwrap()
}

#[test]
fn the_examples_of_chrome_devtools_mcp_are_understood() {
    let canary = options(&["--channel=canary", "--headless=true", "--isolated=true"]);
    assert_eq!(canary.browser.channel.as_deref(), Some("canary"));
    assert!(canary.browser.headless && canary.browser.isolated);
    for example in [
        &["--browserUrl", "http://127.0.0.1:9222"][..],
        &[
            "--wsEndpoint",
            "ws://127.0.0.1:9222/devtools/browser/abc123",
        ],
        &[
            "--wsEndpoint",
            "ws://127.0.0.1:9222/devtools/browser/abc123",
            "--wsHeaders",
            r#"{"Authorization":"Bearer token"}"#,
        ],
        &["--channel", "beta"],
        &["--logFile", "/tmp/log.txt"],
        &["--viewport", "1280x720"],
        &[
            "--chrome-arg=--no-sandbox",
            "--chrome-arg=--disable-setuid-sandbox",
        ],
        &["--ignore-default-chrome-arg=--disable-extensions"],
        &["--no-category-emulation"],
        &["--no-category-performance"],
        &["--no-category-network"],
        &["--user-data-dir=/tmp/user-data-dir"],
        &["--auto-connect"],
        &["--auto-connect", "--channel=canary"],
        &["--no-usage-statistics"],
        &["--no-performance-crux"],
        &["--no-source-maps"],
        &["--slim", "--headless"],
    ] {
        options(example);
    }
}

#[test]
fn flags_that_only_chrome_devtools_mcp_has_choose_the_fixed_list() {
    for theirs in [
        &["--slim"][..],
        &["--slim=false"],
        &["--no-usage-statistics"],
        &["--usageStatistics=false"],
        &["--channel", "beta"],
        &["--channel=canary"],
        &["--no-category-network"],
        &["--categoryNetwork=false"],
        &["--experimental-page-id-routing"],
        &["--experimentalTomorrow"],
        &["--workspace=/a"],
        &["--headless", "--no-performance-crux"],
    ] {
        assert_eq!(options(theirs).tools, ToolMode::Static, "{theirs:?}");
        let chosen = [theirs, &["--tools", "progressive"]].concat();
        assert_eq!(options(&chosen).tools, ToolMode::Progressive, "{chosen:?}");
    }
    for ours in [
        &[][..],
        &["--headless"],
        &["--isolated", "--viewport=1280x720"],
        &["--user-data-dir=/x", "--proxy-server=http://p:1"],
        &["--categories", "input"],
        &["--filesystemRoot=/a", "--logFile=/tmp/x"],
    ] {
        assert_eq!(options(ours).tools, ToolMode::Auto, "{ours:?}");
    }
    assert!(options(&["--slim"]).slim && !options(&["--slim=false"]).slim);
}

#[test]
fn every_flag_of_chrome_devtools_mcp_is_accepted_or_refused_in_a_sentence() {
    let mut refused = Vec::new();
    for (name, samples) in flags::samples() {
        for sample in samples {
            match args(&[sample.as_str()]) {
                Ok(_) => {}
                Err(error) => {
                    let named = format!("{name} of chrome-devtools-mcp is not supported: ");
                    assert!(error.contains(&named), "{sample}: {error}");
                    refused.push(name);
                }
            }
        }
    }
    refused.sort_unstable();
    refused.dedup();
    let expected = [
        "allowedUrlPattern",
        "blockedUrlPattern",
        "javascriptEvaluation",
        "redactNetworkHeaders",
    ];
    assert_eq!(refused, expected);
}

#[test]
fn every_flag_of_playwright_mcp_is_accepted_or_refused_in_a_sentence() {
    let mut refused = Vec::new();
    for (name, samples) in flags::playwright_samples() {
        for sample in samples {
            let mut words = vec![sample.as_str()];
            match name {
                "cdpHeader" => words.push("--cdpEndpoint=ws://x"),
                "proxyBypass" => words.push("--proxy-server=http://x"),
                "storageState" => words.push("--isolated"),
                _ => {}
            }
            if let Err(error) = args(&words) {
                let named = format!("{name} of Playwright MCP is not supported: ");
                assert!(error.contains(&named), "{sample}: {error}");
                refused.push(name);
            }
        }
    }
    refused.sort_unstable();
    refused.dedup();
    let expected = [
        "allowedHosts",
        "blockServiceWorkers",
        "browser",
        "endpoint",
        "host",
        "initPage",
        "mobile",
        "profileDirName",
        "webmcp",
    ];
    assert_eq!(refused, expected);
    let mut known: Vec<_> = flags::playwright_samples()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    known.sort_unstable();
    let published = include_str!("../../../../fixtures/calls/playwright-mcp-flags.txt");
    let published: Vec<_> = published.lines().collect();
    assert_eq!(known, published);
}

#[test]
fn flags_of_playwright_mcp_mean_those_of_ours() {
    let script = std::env::temp_dir().join(format!("tabmux-init-{}.js", std::process::id()));
    std::fs::write(&script, "var a = 1;").unwrap();
    let given = options(&[
        "--viewport-size",
        "800,600",
        "--ignore-https-errors",
        "--user-agent=Mozilla/5.0 (Test)",
        "--proxy-server=http://p:1",
        "--proxy-bypass=.com,example.org",
        "--no-sandbox",
        "--browser",
        "chrome-beta",
        "--init-script",
        script.to_str().unwrap(),
        "--grant-permissions",
        "geolocation",
        "clipboard-read",
        "--allow-unrestricted-file-access",
        "--output-dir=/out",
        "--device",
        "iPhone 15",
        "--isolated",
        "--storage-state=/state.json",
    ]);
    std::fs::remove_file(script).unwrap();
    let browser = given.browser;
    assert_eq!(browser.viewport, Some((800, 600)));
    assert!(browser.accept_insecure_certs && browser.allow_file_urls);
    assert_eq!(browser.choice, BrowserChoice::Launch);
    let arguments = [
        "--no-sandbox",
        "--user-agent=Mozilla/5.0 (Test)",
        "--proxy-bypass-list=.com;example.org",
    ];
    assert_eq!(browser.extra_args, arguments);
    assert_eq!(browser.channel.as_deref(), Some("beta"));
    assert_eq!(browser.init_scripts, ["var a = 1;"]);
    assert_eq!(browser.device.as_deref(), Some("iPhone 15"));
    assert_eq!(browser.storage_state, Some("/state.json".into()));
    assert_eq!(browser.permissions, ["geolocation", "clipboard-read"]);
    assert_eq!(given.roots, [PathBuf::from("/")]);
    assert_eq!(given.output, Some("/out".into()));

    let attached = options(&["--cdp-endpoint", "http://127.0.0.1:9222"]).browser;
    let url = "http://127.0.0.1:9222".to_owned();
    assert_eq!(attached.choice, at(EndpointAddress::DevTools { url }));
    let socket = [
        "--cdp-endpoint=wss://x/y",
        "--cdp-header",
        "Authorization: Bearer a",
    ];
    let address = EndpointAddress::WebSocket {
        url: "wss://x/y".into(),
        headers: vec![("Authorization".into(), "Bearer a".into())],
    };
    assert_eq!(options(&socket).browser.choice, at(address));
    let mine = options(&["--extension", "--browser", "chrome"]).browser;
    let name = Some("chrome".to_owned());
    assert_eq!(mine.choice, BrowserChoice::Extension { name });
}

fn at(address: EndpointAddress) -> BrowserChoice {
    let endpoints = vec![address.into()];
    BrowserChoice::Endpoints { endpoints }
}

#[test]
fn a_storage_state_is_refused_without_isolated() {
    let state = "--storage-state=/state.json";
    for others in [
        &[][..],
        &["--user-data-dir=/profile"],
        &["--cdp-endpoint=http://127.0.0.1:9222"],
        &["--extension"],
        &["--auto-connect"],
    ] {
        let args = args(&[&[state], others].concat()).unwrap();
        let told = args.browser.options().unwrap_err().to_string();
        assert!(told.contains("--storageState needs --isolated"), "{told}");
    }
}

#[test]
fn refused_flags_and_flags_without_effect_are_in_the_guide() {
    let guide = concat!(
        include_str!("../../../../docs/migrating/chrome-devtools-mcp.md"),
        include_str!("../../../../docs/migrating/playwright-mcp.md"),
    );
    for (name, _) in flags::samples()
        .into_iter()
        .chain(flags::playwright_samples())
    {
        let kebab: String = name.chars().fold(String::new(), |mut all, letter| {
            if letter.is_ascii_uppercase() {
                all.push('-');
            }
            all.push(letter.to_ascii_lowercase());
            all
        });
        if ['`', '=']
            .iter()
            .any(|end| guide.contains(&format!("`--{kebab}{end}")))
        {
            continue;
        }
        let named = ['`', '='].map(|end| guide.contains(&format!("`--{name}{end}")));
        let named = named.contains(&true);
        assert!(named, "docs/migrating/ does not name --{name}");
    }
}

#[test]
fn flags_that_mean_another_flag_of_ours_are_translated() {
    assert!(options(&["--fileNavigations"]).browser.allow_file_urls);
    assert!(!options(&["--no-file-navigations"]).browser.allow_file_urls);
    let categories = options(&["--experimentalScreencast=true"]).categories;
    assert!(categories.unwrap().contains(&"screencast".to_owned()));
    let roots = options(&["--workspace", "/a", "/b", "--allowUnrestrictedPaths"]).roots;
    assert_eq!(roots, ["/a", "/b", "/"].map(PathBuf::from));
    let running = options(&["--autoConnect=true"]).browser.choice;
    assert_eq!(running, BrowserChoice::Running);
}

#[test]
fn the_help_has_each_flag_below_a_heading_that_is_right() {
    let mut command = McpCli::command();
    let mcp = command.find_subcommand_mut("mcp").unwrap();
    let heading = |flag: &str| {
        let flag = mcp.get_arguments().find(|it| it.get_long() == Some(flag));
        flag.unwrap().get_help_heading()
    };
    for (expected, flags) in [
        ("Browser", &["headless", "browserUrl"][..]),
        (
            "Tools",
            &[
                "tools",
                "pageActions",
                "generatedTools",
                "routing",
                "categories",
            ],
        ),
        ("Tabs", &["onSessionEnd", "tabPolicy", "followUserFocus"]),
        ("Policy", &["allowedOrigins", "confirm", "filesystemRoot"]),
        (
            "Daemon and log",
            &["no-daemon", "socket", "port", "logFile"],
        ),
    ] {
        for flag in flags {
            assert_eq!(heading(flag), Some(expected), "--{flag}");
        }
    }
}
