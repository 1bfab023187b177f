//! TLS to a server: which certificates are trusted, and which one is ours.

use super::error::DialError;
use crate::files::FileThreads;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use url::{Host, Url};

/// How the certificate of a server is checked, and which one we show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TlsOptions {
    /// Certificates of authorities to trust beside those of the system, in PEM.
    pub ca_files: Vec<PathBuf>,
    /// Our own certificate and its key, in PEM.
    pub client: Option<(PathBuf, PathBuf)>,
    /// Accept any certificate.
    pub insecure: bool,
}

/// Does the handshake on a stream to the host of this address.
pub(super) async fn handshake(
    url: &Url,
    options: &TlsOptions,
    stream: TcpStream,
) -> Result<TlsStream<TcpStream>, DialError> {
    let name = match url.host() {
        Some(Host::Domain(name)) => ServerName::try_from(name.to_owned()).ok(),
        Some(Host::Ipv4(address)) => Some(ServerName::from(std::net::IpAddr::from(address))),
        Some(Host::Ipv6(address)) => Some(ServerName::from(std::net::IpAddr::from(address))),
        None => None,
    };
    let name = name.ok_or_else(|| {
        DialError::Tls("has a host name for which there can be no certificate.".to_owned())
    })?;
    let options = options.clone();
    let made = FileThreads::new().run(move || config(&options)).await;
    let config = made
        .map_err(|stuck| DialError::Sentence(format!("Certificates cannot be read: {stuck}")))??;
    let connector = TlsConnector::from(Arc::new(config));
    Ok(connector.connect(name, stream).await?)
}

/// Blocks: reads files.
fn config(options: &TlsOptions) -> Result<ClientConfig, DialError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(unusable)?;
    let builder = match options.insecure {
        true => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider))),
        false => builder.with_root_certificates(roots(&options.ca_files)?),
    };
    let Some((certificate, key)) = &options.client else {
        return Ok(builder.with_no_client_auth());
    };
    let chain = certificates("--clientCert", certificate)?;
    let bytes = read("--clientKey", key)?;
    let key = PrivateKeyDer::from_pem_slice(&bytes).map_err(|_| {
        let key = key.display();
        DialError::Sentence(format!("--clientKey {key} has no private key in PEM."))
    })?;
    let config = builder.with_client_auth_cert(chain, key);
    config.map_err(|error| {
        DialError::Sentence(format!(
            "--clientCert and --clientKey cannot be used together: {error}."
        ))
    })
}

/// The authorities of the system, or of the program if the system has none, as in a small container; and those of
/// the user.
fn roots(files: &[PathBuf]) -> Result<Arc<RootCertStore>, DialError> {
    static SYSTEM: OnceLock<Arc<RootCertStore>> = OnceLock::new();
    let system = SYSTEM.get_or_init(|| {
        let mut roots = RootCertStore::empty();
        let found = rustls_native_certs::load_native_certs();
        let (used, unusable) = roots.add_parsable_certificates(found.certs);
        tracing::debug!(used, unusable, "read the system's certificate authorities");
        if roots.is_empty() {
            roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        }
        Arc::new(roots)
    });
    if files.is_empty() {
        return Ok(Arc::clone(system));
    }
    let mut roots = RootCertStore::clone(system);
    for file in files {
        for certificate in certificates("--caFile", file)? {
            roots.add(certificate).map_err(|error| {
                let file = file.display();
                DialError::Sentence(format!(
                    "--caFile {file} has a certificate that cannot be used: {error}."
                ))
            })?;
        }
    }
    Ok(Arc::new(roots))
}

fn certificates(flag: &str, file: &Path) -> Result<Vec<CertificateDer<'static>>, DialError> {
    let bytes = read(flag, file)?;
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match all {
        Ok(all) if !all.is_empty() => Ok(all),
        _ => Err(DialError::Sentence(format!(
            "{flag} {} has no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----.",
            file.display()
        ))),
    }
}

fn read(flag: &str, file: &Path) -> Result<Vec<u8>, DialError> {
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file);
    let read = opened.and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes));
    match read {
        Ok(_) => Ok(bytes),
        Err(error) => Err(DialError::Sentence(format!(
            "{flag} {} cannot be read: {error}.",
            file.display()
        ))),
    }
}

fn unusable(error: rustls::Error) -> DialError {
    DialError::Tls(format!("cannot be used over TLS ({error})."))
}

/// Accepts any certificate, but checks that the server has its key.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Of a file with certificates or a key.
const MOST_BYTES: u64 = 4 * 1024 * 1024;
