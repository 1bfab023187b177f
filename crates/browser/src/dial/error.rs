//! Why there is no stream to a server, and what to do next.

use crate::endpoint;
use rustls::{AlertDescription, CertificateError};
use std::io;

/// Why there is no stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DialError {
    /// Nothing answers: what the system reported.
    Unreachable(String),
    /// Something about TLS, as the end of a sentence that begins with the address.
    Tls(String),
    /// A whole sentence: about a file of the user, or a proxy.
    Sentence(String),
    /// The port does not speak TLS.
    Plain,
    /// The port speaks TLS, and the address does not.
    SpeaksTls,
}

impl DialError {
    /// A sentence for users and agents. Does not contain the secrets of the address.
    pub(crate) fn sentence(&self, url: &str) -> String {
        let shown = endpoint::shown(url);
        match self {
            Self::Unreachable(detail) => {
                format!("No browser answers at {shown} ({detail}).")
            }
            Self::Tls(end) => format!("{shown} {end}"),
            Self::Sentence(sentence) => sentence.clone(),
            Self::Plain => format!(
                "{shown} does not speak TLS. Use {} instead.",
                shown.replacen("s://", "://", 1)
            ),
            Self::SpeaksTls => format!(
                "{shown} speaks TLS. Use {} instead.",
                shown.replacen("://", "s://", 1)
            ),
        }
    }

    /// What a server's refusal means that came only after the handshake, if it was about TLS.
    pub(crate) fn in_text(detail: &str) -> Option<Self> {
        let said = detail.split("received fatal alert: ").nth(1)?;
        Some(Self::Tls(refused(said)))
    }
}

impl From<io::Error> for DialError {
    fn from(error: io::Error) -> Self {
        let inner = error.get_ref();
        let Some(tls) = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>()) else {
            return match error.kind() {
                io::ErrorKind::UnexpectedEof => Self::Tls(ENDED.to_owned()),
                _ => Self::Unreachable(error.to_string()),
            };
        };
        match tls {
            rustls::Error::InvalidCertificate(why) => Self::Tls(about_certificate(why)),
            rustls::Error::InvalidMessage(_) => Self::Plain,
            rustls::Error::AlertReceived(alert) => Self::Tls(refused(&format!("{alert:?}"))),
            other => Self::Tls(format!("cannot be used over TLS ({other}).")),
        }
    }
}

fn about_certificate(why: &CertificateError) -> String {
    match why {
        CertificateError::UnknownIssuer => "has a certificate of an unknown certificate \
            authority. If you trust it, name the file of its certificate with --caFile FILE."
            .to_owned(),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "has a certificate that has expired. Renew it on the server, and check the clock of this machine."
                .to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "has a certificate that is not valid yet. Check the clocks of both machines.".to_owned()
        }
        CertificateError::NotValidForNameContext { presented, .. } => {
            let names: Vec<_> = presented.iter().map(|name| plain_name(name)).collect();
            format!(
                "has a certificate for other names ({}). Use one of them in the address, or give the server a \
                 certificate for this one.",
                tabmux_text::one_line(&names.join(", "), LONGEST)
            )
        }
        other => format!(
            "has a certificate that cannot be used ({}).",
            tabmux_text::one_line(&other.to_string(), LONGEST)
        ),
    }
}

/// `DnsName("a.test")` as `a.test`.
fn plain_name(name: &str) -> &str {
    name.split('"').nth(1).unwrap_or(name)
}

/// A fatal alert of the server, by the name that rustls gives it.
fn refused(alert: &str) -> String {
    let certificates = [
        AlertDescription::CertificateRequired,
        AlertDescription::BadCertificate,
        AlertDescription::CertificateUnknown,
        AlertDescription::UnknownCA,
        AlertDescription::AccessDenied,
        AlertDescription::HandshakeFailure,
    ];
    let is = |name: &AlertDescription| alert.starts_with(&format!("{name:?}"));
    match certificates.iter().any(is) {
        true => "wants a client certificate that it knows. Name yours with --clientCert FILE and --clientKey FILE."
            .to_owned(),
        false => format!(
            "refuses the TLS connection ({}). Check what versions and names it accepts.",
            tabmux_text::one_line(alert, 60)
        ),
    }
}

const ENDED: &str = "ended the connection during the TLS handshake. If this port does not use TLS, write http:// or \
                     ws:// in the address.";
const LONGEST: usize = 200;
