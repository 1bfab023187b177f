//! The secrets of a session, from its client's options.

use tabmux_browser::secrets::Secrets;
use tabmux_core::{SessionConfig, ToolName};
use tabmux_protocol::session::SecretDefinition;

/// Reads the secrets of a session. From now on their values are masked in everything that leaves this process. Returns a
/// sentence if they are invalid.
pub(super) fn read(given: &[SecretDefinition]) -> Result<Secrets, String> {
    let mut secrets = Secrets::default();
    for secret in given {
        let SecretDefinition {
            name,
            value,
            origins,
        } = secret;
        if secret.is_for_every_site() {
            return Err(format!(
                "The secret {name} names every origin; name the sites where it belongs"
            ));
        }
        if origins.is_empty() || value.chars().count() < tabmux_text::secrets::SHORTEST {
            return Err(format!(
                "The secret {name} has no origins, or its value is too short"
            ));
        }
        let added = secrets.add(name, value, origins);
        added.map_err(|error| format!("The secret {name}: {error}"))?;
    }
    let values = given.iter().map(|secret| secret.value.as_str());
    tabmux_text::secrets::hide(values).map_err(|why| why.to_string())?;
    Ok(secrets)
}

/// Offers the list of secrets to sessions that have some, and to no others.
pub(super) fn offer(mut config: SessionConfig, has_secrets: bool) -> SessionConfig {
    let list = ToolName::new(LIST);
    config.withheld.retain(|tool| *tool != list);
    config.on_request.retain(|(tool, _)| *tool != list);
    match has_secrets {
        true => config.added.push(list),
        false => config.withheld.push(list),
    }
    config
}

const LIST: &str = "list_secrets";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_for_every_site_is_refused_here_too() {
        let secret = |origin: &str| SecretDefinition {
            name: "A".into(),
            value: "some-value".into(),
            origins: vec![origin.into()],
        };
        for origin in ["*", "https://*", "https://*:443", "*:443"] {
            let error = read(&[secret(origin)]).unwrap_err();
            assert!(error.contains("names every origin"), "{error}");
        }
        assert!(read(&[secret("https://*.app.example:443")]).is_ok());
    }
}
