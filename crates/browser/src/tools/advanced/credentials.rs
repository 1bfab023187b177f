//! Passwords for HTTP authentication.

use super::{check_origin, origin};
use crate::error::ToolError;
use crate::run::Page;
use crate::secrets;
use crate::tab::{SiteLogin, Tab};
use crate::tools::{Access, Category, Tool, ToolOutput, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt;

/// Sets the password of a site.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::tools) struct SetCredentials {
    /// Such as https://example.com.
    origin: String,
    /// Empty to forget the password.
    username: String,
    /// Or {{secret:NAME}}.
    password: String,
}

impl fmt::Debug for SetCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = &self.origin;
        f.debug_struct("SetCredentials")
            .field("origin", origin)
            .finish_non_exhaustive()
    }
}

impl Tool for SetCredentials {
    const NAME: &'static str = "set_credentials";
    const DESCRIPTION: &'static str = "Answer the HTTP authentication of a site in this tab, until the tab is released. Chrome stays logged in until the \
         browser or the isolated context ends.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Advanced;
    const OPT_IN: bool = true;
    const PROGRESSIVE: bool = false;
    const NEEDS_PAGE: bool = false;

    fn check(&self) -> Result<(), String> {
        if self.username.len() > LONGEST || self.password.len() > LONGEST {
            return Err(format!(
                "`username` and `password` have at most {LONGEST} bytes"
            ));
        }
        check_origin(&self.origin)
    }

    async fn run(self, page: Page) -> ToolResult {
        let tab = &page.tab;
        let origin = origin(tab, Some(&self.origin))?;
        let value = |text: String| {
            let named = secrets::named_by(&text, &origin)?;
            Ok::<_, ToolError>(named.map_or(text, |value| value.to_string()))
        };
        let (username, password) = (value(self.username)?, value(self.password)?);
        let login = (!username.is_empty()).then(|| SiteLogin::new(username, password));
        let done = match login {
            Some(_) => format!("The password for {origin} is set in this tab. Load the page now."),
            None => format!("The password for {origin} is forgotten."),
        };
        if !tab.rules().logins().set(&origin, login) {
            return Err(ToolError::Arguments(
                "This tab has 20 passwords already. Forget one, with an empty `username`.".into(),
            ));
        }
        tab.apply_rules().await?;
        Ok(ToolOutput::text(done))
    }
}

/// Forgets all passwords of the tab.
pub(super) async fn clear(tab: &Tab) -> Result<(), ToolError> {
    match tab.rules().logins().clear() {
        true => tab.apply_rules().await,
        false => Ok(()),
    }
}

const LONGEST: usize = 1_000;

#[cfg(test)]
mod tests {
    use crate::fake::{self, FakeBrowser};
    use crate::secrets::{self, Secrets};
    use serde_json::json;
    use std::sync::Arc;

    #[tokio::test(start_paused = true)]
    async fn a_secret_is_sent_by_its_value_and_only_where_it_belongs() {
        let mut harness = FakeBrowser::new(fake::usual).await;
        harness.tab().await.unwrap();
        let mut secrets = Secrets::default();
        let origins = ["https://app.example".to_owned()];
        secrets.add("PASSWORD", "correct-horse", &origins).unwrap();
        let secrets = Arc::new(secrets);
        let login = |origin: &str| json!({"origin": origin, "username": "me", "password": "{{secret:PASSWORD}}"});
        let set = harness.run("set_credentials", login("https://other.example"));
        let error = secrets::within(Arc::clone(&secrets), set).await;
        let error = error.unwrap_err().to_string();
        assert!(error.contains("may not be used on"), "{error}");
        let set = harness.run("set_credentials", login("https://app.example"));
        secrets::within(secrets, set).await.unwrap();
        let asked = json!({
            "requestId": "R",
            "authChallenge": {"source": "Server", "origin": "https://app.example", "scheme": "basic", "realm": ""},
        });
        let asked = fake::event("Fetch.authRequired", asked);
        harness.fake.say(asked).await;
        let answer = harness.fake.hears("Fetch.continueWithAuth").await.unwrap();
        let answer = &answer.params["authChallengeResponse"]["password"];
        assert_eq!(answer, "correct-horse");
    }
}
