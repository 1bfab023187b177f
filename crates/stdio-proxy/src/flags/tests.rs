//! What the flags about the browser mean.

use super::*;
use clap::{CommandFactory, Parser};

#[derive(Parser)]
struct Only {
    #[command(flatten)]
    flags: BrowserFlags,
}

fn options(flags: &[&str]) -> BrowserOptions {
    let args = [&["x"], flags].concat();
    Only::try_parse_from(args).unwrap().flags.options().unwrap()
}

/// The browsers to attach to.
fn endpoints(options: BrowserOptions) -> Vec<Endpoint> {
    match options.choice {
        BrowserChoice::Endpoints { endpoints } => endpoints,
        other => panic!("{other:?}"),
    }
}

fn parse(flags: &[&str]) -> Result<BrowserFlags, clap::Error> {
    Only::try_parse_from([&["x"], flags].concat()).map(|only| only.flags)
}

#[test]
fn an_endpoint_without_a_checked_certificate_is_named() {
    let flags = ["--browserUrl=lab=https://a", "--browserUrl=https://b"];
    let insecure = |name: &'static str| [&flags[..], &["--acceptInsecureEndpoint", name]].concat();
    let options = parse(&insecure("lab")).unwrap().options().unwrap();
    let all: Vec<_> = endpoints(options).iter().map(|it| it.insecure).collect();
    assert_eq!(all, [true, false]);
    let error = parse(&insecure("b")).unwrap().options().unwrap_err();
    assert_eq!(
        error.to_string(),
        "--acceptInsecureEndpoint b names no endpoint; write --browserUrl b=https://… or --wsEndpoint b=wss://…"
    );
    let files = ["--caFile=ca.pem", "--clientCert=c.pem", "--clientKey=c.key"];
    let options = parse(&[&flags[..], &files].concat()).unwrap();
    let options = options.options().unwrap();
    assert!(options.ca_files[0].is_absolute() && options.ca_files[0].ends_with("ca.pem"));
    let (certificate, key) = options.client_certificate.unwrap();
    assert!(certificate.ends_with("c.pem") && key.is_absolute());
    assert!(parse(&["--browserUrl=https://a", "--clientCert=c.pem"]).is_err());
}

#[test]
fn without_flags_a_running_browser_may_be_used() {
    assert_eq!(options(&[]).choice, BrowserChoice::Any);
}

#[test]
fn a_launch_flag_means_a_browser_that_we_launch() {
    for flags in [
        &["--headless"][..],
        &["--isolated"],
        &["--user-data-dir", "/x"],
    ] {
        assert_eq!(options(flags).choice, BrowserChoice::Launch, "{flags:?}");
    }
}

#[test]
fn an_attached_browser_is_not_launched_despite_launch_flags() {
    let attached = options(&["--browserUrl=http://a:1", "--headless", "--chromeArg=--a"]);
    assert_eq!(endpoints(attached).len(), 1);
    let running = options(&["--autoConnect", "--channel=beta", "--headless"]);
    assert_eq!(running.choice, BrowserChoice::Running);
    assert_eq!(running.channel.as_deref(), Some("beta"));
}

#[test]
fn both_spellings_are_understood() {
    assert_eq!(
        options(&["--browserUrl", "http://a:1"]),
        options(&["--browser-url", "http://a:1"])
    );
    assert_eq!(
        options(&["--chromeArg=--a"]),
        options(&["--chrome-arg", "--a"])
    );
}

/// Spec: multi-browser 59.
#[test]
fn the_flags_for_one_browser_keep_working() {
    let attached = options(&[
        "--wsEndpoint=ws://127.0.0.1:9222/devtools/browser/x",
        "--wsHeaders={}",
        "--viewport=1280x720",
    ]);
    assert_eq!(attached.viewport, Some((1280, 720)));
    assert_eq!(endpoints(attached).len(), 1);
    let launched = options(&[
        "--headless",
        "--userDataDir=/x",
        "--executablePath=/usr/bin/chrome",
        "--proxyServer=http://127.0.0.1:8080",
        "--acceptInsecureCerts",
        "--chromeArg=--mute-audio",
    ]);
    assert_eq!(launched.choice, BrowserChoice::Launch);
    assert!(launched.headless && launched.accept_insecure_certs);
    assert_eq!(launched.user_data_dir, Some("/x".into()));
    assert_eq!(launched.executable, Some("/usr/bin/chrome".into()));
    assert_eq!(launched.proxy.as_deref(), Some("http://127.0.0.1:8080"));
    assert_eq!(launched.extra_args, ["--mute-audio"]);
    let isolated = options(&["--isolated", "--channel=beta"]);
    assert!(isolated.isolated);
    assert_eq!(isolated.channel.as_deref(), Some("beta"));
}

#[test]
fn a_browser_is_named_for_a_daemon_that_works_in_another_folder() {
    let here = std::env::current_dir().unwrap();
    for (written, meant) in [
        ("./chrome", here.join("chrome")),
        ("bin/chrome", here.join("bin/chrome")),
        ("/usr/bin/chrome", "/usr/bin/chrome".into()),
        ("chromium", "chromium".into()),
    ] {
        let given = options(&["--executablePath", written]).executable;
        assert_eq!(given, Some(meant), "{written}");
    }
}

/// Spec: multi-browser 31, 32, 35, 57, 86, 87, 99.
#[test]
fn browsers_may_be_several_with_names_commands_and_headers() {
    let given = options(&[
        "--browserUrl",
        "work=http://127.0.0.1:9222|chrome --port=9222",
        "--browserUrl",
        "http://127.0.0.1:9223",
        "--wsEndpoint",
        "ws://127.0.0.1:1/a?b=c",
        "--wsHeaders",
        r#"{"Authorization": "Bearer x"}"#,
    ]);
    let given = endpoints(given);
    let [work, plain, socket] = &given[..] else {
        panic!("{given:?}");
    };
    assert_eq!(work.name.as_deref(), Some("work"));
    let url = "http://127.0.0.1:9222".to_owned();
    assert_eq!(work.address, EndpointAddress::DevTools { url });
    assert_eq!(work.start_command.as_deref(), Some("chrome --port=9222"));
    assert_eq!((&plain.name, &plain.start_command), (&None, &None));
    let headers_of_its_own = EndpointAddress::WebSocket {
        url: "ws://127.0.0.1:1/a?b=c".into(),
        headers: vec![("Authorization".into(), "Bearer x".into())],
    };
    assert_eq!(socket.address, headers_of_its_own);
}

/// Spec: multi-browser 34.
#[test]
fn the_help_says_whose_rights_a_start_command_has() {
    let help = Only::command().render_long_help().to_string();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let warning = "to restart the browser when reconnecting fails (http://…|google-chrome …); the command runs \
                   in a shell with your rights: trusted commands only";
    assert!(help.contains(warning), "{help}");
}

/// Spec: multi-browser 31, 35.
#[test]
fn browsers_are_numbered_as_they_are_named_whatever_the_flag() {
    let flags = [
        "-w", "ws://a", "-u", "http://b", "-w", "ws://c", "-u", "http://d",
    ];
    let named = endpoints(options(&flags));
    let named: Vec<_> = named
        .iter()
        .map(|endpoint| endpoint.address.url())
        .collect();
    assert_eq!(named, ["ws://a", "http://b", "ws://c", "http://d"]);
}

#[test]
fn contradictions_and_nonsense_are_refused() {
    let refused = |flags: &[&str]| {
        let args = [&["x"], flags].concat();
        Only::try_parse_from(args).is_err_and(|e| !e.to_string().is_empty())
            || Only::try_parse_from([&["x"], flags].concat())
                .is_ok_and(|o| o.flags.options().is_err())
    };
    assert!(refused(&["--browserUrl", ""]));
    assert!(refused(&["--wsHeaders", "{}"]));
    let two = ["--wsEndpoint", "ws://a", "--wsEndpoint", "ws://b"];
    assert!(refused(&[&two[..], &["--wsHeaders", "{}"]].concat()));
    assert!(refused(&["--browserUrl", "http://a:1", "--isolated"]));
    assert!(refused(&["--autoConnect", "--isolated"]));
    assert!(refused(&["--autoConnect", "--executablePath=/x"]));
    assert!(refused(&["--viewport", "big"]));
    assert!(refused(&["--viewport", "0x10"]));
    assert!(refused(&["--channel", "nightly"]));
}
