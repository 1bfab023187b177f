//! Passwords, codes and card numbers are accepted and never repeated.

use super::harness::PageToolsHarness;
use serde_json::json;

#[tokio::test]
async fn sign_in_forms_take_secrets_and_never_repeat_them() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let body = r#"<form onsubmit="got = [...new FormData(this).values()]; return false">
        <label>User <input name="user" value="ada" autocomplete="username"></label>
        <label>Password <input type="password" name="pw" value="old-secret" autocomplete="current-password"></label>
        <label>Code <input name="otp" inputmode="numeric" maxlength="6"></label>
        <button>Submit</button></form>
        <h2>Pay</h2><form onsubmit="return false"><label>Card <input autocomplete="cc-number" value="4111"></label><button>Pay now</button></form>
        <script>var got</script>"#;
    let tab = harness.page("/login", body).await;
    harness.read(&tab).await;
    assert_eq!(harness.names(&tab), ["sign_in", "pay_now"]);
    for (tool, argument) in [
        ("sign_in", "password"),
        ("sign_in", "code"),
        ("pay_now", "card"),
    ] {
        let schema = harness.argument(&tab, tool, argument);
        assert_eq!(schema["format"], "password", "{argument}");
        assert_eq!(schema.get("default"), None, "{argument}");
    }
    assert!(!harness.sheet(&tab).contains("old-secret") && !harness.sheet(&tab).contains("4111"));
    let arguments = json!({ "user": "bob", "password": "hunter2!", "code": "123456" });
    let answer = harness.does(&tab, "sign_in", arguments).await;
    assert_eq!(
        answer,
        "Filled \"User\" with \"bob\", \"Password\" (not repeated), \"Code\" (not repeated). Pressed \"Submit\".\n\
         The page is still at http://HOST/login"
    );
    assert_eq!(
        harness.page_value(&tab, "got").await,
        json!(["bob", "hunter2!", "123456"])
    );
    let error = harness
        .refuses(&tab, "sign_in", json!({ "code": "9876543210" }))
        .await;
    assert!(
        error.contains("(not repeated)") && !error.contains("987654"),
        "{error}"
    );
}
