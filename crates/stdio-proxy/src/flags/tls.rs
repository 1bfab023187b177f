//! The flags for browsers behind TLS.

use super::absolute;
use anyhow::bail;
use clap::Args;
use std::path::PathBuf;
use tabmux_protocol::session::Endpoint;

/// Which certificates are trusted, and which one is ours.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Browser")]
pub(super) struct TlsFlags {
    /// Trust this certificate authority, too, for https:// and wss:// addresses of browsers: a PEM file. May be
    /// repeated.
    #[arg(long = "caFile", alias = "ca-file", value_name = "FILE")]
    ca_file: Vec<PathBuf>,

    /// Your certificate for browsers whose server asks for one, in PEM. Needs --clientKey.
    #[arg(
        long = "clientCert",
        alias = "client-cert",
        value_name = "FILE",
        requires = "client_key"
    )]
    client_cert: Option<PathBuf>,

    /// The private key of --clientCert, in PEM.
    #[arg(
        long = "clientKey",
        alias = "client-key",
        value_name = "FILE",
        requires = "client_cert"
    )]
    client_key: Option<PathBuf>,

    /// Accept any certificate of the endpoint with this name (NAME=https://…): machines between you and it can then
    /// read and change everything. May be repeated.
    #[arg(
        long = "acceptInsecureEndpoint",
        alias = "accept-insecure-endpoint",
        value_name = "NAME"
    )]
    accept_insecure_endpoint: Vec<String>,
}

/// The files of authorities, and those of the user's certificate and key.
type TlsFiles = (Vec<PathBuf>, Option<(PathBuf, PathBuf)>);

impl TlsFlags {
    pub(super) fn files(&self) -> anyhow::Result<TlsFiles> {
        let authorities = self.ca_file.iter().cloned().map(absolute);
        let client = match (&self.client_cert, &self.client_key) {
            (Some(certificate), Some(key)) => {
                Some((absolute(certificate.clone())?, absolute(key.clone())?))
            }
            _ => None,
        };
        Ok((authorities.collect::<Result<_, _>>()?, client))
    }

    /// Marks the endpoints whose certificates are not checked.
    pub(super) fn mark_insecure(&self, endpoints: &mut [Endpoint]) -> anyhow::Result<()> {
        for name in &self.accept_insecure_endpoint {
            let is_named = |it: &&mut Endpoint| it.name.as_ref() == Some(name);
            let Some(endpoint) = endpoints.iter_mut().find(is_named) else {
                bail!(
                    "--acceptInsecureEndpoint {name} names no endpoint; write --browserUrl {name}=https://… or \
                     --wsEndpoint {name}=wss://…"
                );
            };
            endpoint.insecure = true;
        }
        Ok(())
    }
}
