//! Browsers behind TLS, names and proxies, as a client configures them.

use crate::crowd::Crowd;
use serde_json::json;
use tabmux_testkit::{McpClient, TlsProxy, TunnelProxy, certificate};

/// A client whose daemon has these variables.
async fn client(crowd: &Crowd, variables: &[(&str, String)], flags: &[String]) -> McpClient {
    let mut command = crowd.tabmux();
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    command.args(["mcp", "--tools=static"]).args(flags);
    let client = McpClient::spawn(command);
    client.initialize().await;
    client
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_whose_certificate_is_not_checked_is_shown_as_such() {
    let Some(crowd) = Crowd::gather() else { return };
    let chromium = crowd.running_browser();
    let proxy = TlsProxy::start(chromium.port(), "expired");
    let url = format!("https://127.0.0.1:{}", proxy.port());
    let flags = [
        format!("--browserUrl=lab={url}"),
        "--acceptInsecureEndpoint=lab".to_owned(),
    ];
    let lab = client(&crowd, &[], &flags).await;
    let opened = lab.call_tool("new_page", json!({"url": crowd.secret_of("lab")}));
    assert!(opened.await.text().contains("/secret?of=lab"));
    let listed = lab.call_tool("list_browsers", json!({})).await.text();
    let shown = format!("lab ({url}, certificate not checked)");
    assert!(
        listed.contains(&format!("[1] {shown} - connected")),
        "{listed}"
    );
    let output = crowd.tabmux().arg("browsers").output().unwrap();
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.contains("certificate not checked"), "{output}");

    // Another session that names the same address checks the certificate.
    let checking = client(&crowd, &[], &flags[..1]).await;
    let refused = checking.call_tool("list_pages", json!({})).await;
    assert!(
        refused
            .text()
            .contains("has a certificate that has expired"),
        "{}",
        refused.text()
    );
}

/// Chrome answers only requests for `localhost` or an IP address.
#[tokio::test(flavor = "multi_thread")]
async fn a_browser_behind_a_name_is_reached_through_the_proxy_of_the_environment() {
    let Some(crowd) = Crowd::gather() else { return };
    let chromium = crowd.running_browser();
    let tls = TlsProxy::start(chromium.port(), "server");
    let [secure, plain] = [tls.port(), chromium.port()].map(TunnelProxy::start);
    let variables = [("HTTPS_PROXY", secure.url()), ("HTTP_PROXY", plain.url())];
    let socket = chromium.websocket_url();
    let socket = &socket[socket.find("/devtools").unwrap()..];
    let flags = [
        "--browserUrl=https://browser.test".to_owned(),
        "--browserUrl=http://browser.test:9222".to_owned(),
        format!("--wsEndpoint=ws://browser.test:9222{socket}"),
        format!("--caFile={}", certificate("authority.pem").display()),
    ];
    let client = client(&crowd, &variables, &flags).await;
    for index in 1..=3 {
        let arguments = json!({"browserIndex": index, "url": crowd.secret_of("name")});
        let opened = client.call_tool("new_page", arguments).await.text();
        assert!(opened.contains("/secret?of=name"), "{opened}");
    }
    let all =
        |asked: Vec<String>, line: &str| !asked.is_empty() && asked.iter().all(|it| it == line);
    assert!(all(secure.asked(), "CONNECT browser.test:443 HTTP/1.1"));
    assert!(all(plain.asked(), "CONNECT browser.test:9222 HTTP/1.1"));
}
