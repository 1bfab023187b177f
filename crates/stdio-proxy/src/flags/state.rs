//! The flag for a login state that sessions load and save by name.

use super::BrowserFlags;
use anyhow::{anyhow, ensure};
use std::ffi::OsString;
use tabmux_protocol::session::{BrowserOptions, StateChoice};

/// The options of a session with this state. The key comes from the environment of the client's process: the daemon may
/// have been started from another terminal.
pub(crate) fn with_state(flags: BrowserFlags, name: String) -> anyhow::Result<BrowserOptions> {
    let key = state_key()?;
    ensure!(
        key.as_ref()
            .is_none_or(|key| key.chars().count() >= SHORTEST_KEY),
        "{KEY} has fewer than {SHORTEST_KEY} characters; choose a longer one"
    );
    let options = flags.isolated().options()?;
    ensure!(
        options.storage_state.is_none(),
        "--state and --storageState both fill the session's cookies and storage; remove one of them"
    );
    let state = Some(StateChoice { name, key });
    Ok(BrowserOptions { state, ..options })
}

/// The key for login states, from the environment.
///
/// # Errors
/// When it is not text: without a key, states would be saved as they are.
pub fn state_key() -> anyhow::Result<Option<String>> {
    key_in(std::env::var_os(KEY))
}

fn key_in(value: Option<OsString>) -> anyhow::Result<Option<String>> {
    let key = value.map(OsString::into_string).transpose();
    key.map_err(|_| anyhow!("{KEY} is not UTF-8 text; choose a key of letters and digits"))
}

const KEY: &str = "TABMUX_STATE_KEY";
const SHORTEST_KEY: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt as _;

    #[test]
    fn a_key_that_is_not_text_is_refused() {
        let error = key_in(Some(OsString::from_vec(vec![0xff; 9]))).unwrap_err();
        assert!(error.to_string().contains("is not UTF-8 text"), "{error}");
        assert_eq!(key_in(None).unwrap(), None);
        assert_eq!(key_in(Some("a key".into())).unwrap(), Some("a key".into()));
    }

    #[test]
    fn a_state_implies_an_isolated_session() {
        let options = with_state(BrowserFlags::default(), "work".into()).unwrap();
        assert!(options.isolated && options.state.is_some_and(|state| state.name == "work"));
        let both = BrowserFlags {
            storage_state: Some("/state.json".into()),
            ..BrowserFlags::default()
        };
        let error = with_state(both, "work".into()).unwrap_err().to_string();
        assert!(error.contains("remove one of them"), "{error}");
    }
}
