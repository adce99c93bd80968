//! The authority that vouches for every host of a context.
//!
//! A browser trusts nobody but the key made here, named on its command line by its
//! digest, so a page has real certificates: secure contexts, service workers and
//! strict transport security behave as they do elsewhere. The keys live in memory, and
//! not longer than the browser.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use data_encoding::BASE64;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose, PublicKeyData, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use sha2::{Digest, Sha256};

/// Hosts whose certificates are kept, about 11 KB each. A page can make up names.
const KEPT: usize = 512;

/// Signs a certificate for any host.
pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    /// The one key of all hosts.
    hosts: KeyPair,
    kept: Mutex<HashMap<String, Arc<ServerConfig>>>,
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority").field("pin", &self.pin()).finish_non_exhaustive()
    }
}

/// Why a certificate cannot be made.
#[derive(Debug, thiserror::Error)]
pub(super) enum AuthorityError {
    #[error("a certificate cannot be made: {0}")]
    Certificate(#[from] rcgen::Error),
    #[error("a certificate cannot be used: {0}")]
    Tls(#[from] rustls::Error),
}

impl Authority {
    /// Makes new keys.
    pub(super) fn new() -> Result<Self, AuthorityError> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.distinguished_name = named("wildgym, for one browser");
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        Ok(Self { issuer, hosts: KeyPair::generate()?, kept: Mutex::default() })
    }

    /// Returns what the browser is told to trust: base64 of the SHA-256 of the public key.
    pub(super) fn pin(&self) -> String {
        BASE64.encode(&Sha256::digest(self.issuer.key().subject_public_key_info()))
    }

    /// Returns how to speak as `host`: a name, or an address without brackets.
    pub(super) fn config(&self, host: &str) -> Result<Arc<ServerConfig>, AuthorityError> {
        if let Some(config) = self.kept().get(host) {
            return Ok(Arc::clone(config));
        }
        let config = Arc::new(self.make(host)?);
        let mut kept = self.kept();
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(host.to_owned(), Arc::clone(&config));
        Ok(config)
    }

    fn make(&self, host: &str) -> Result<ServerConfig, AuthorityError> {
        let mut params = CertificateParams::new(vec![host.to_owned()])?;
        params.distinguished_name = named(host);
        params.use_authority_key_identifier_extension = true;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        // Chromium limits the life of certificates of known authorities only, and the
        // logical clock of a task may stand anywhere.
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(2100, 1, 1);
        let certificate = params.signed_by(&self.hosts, &self.issuer)?;
        let chain = vec![certificate.der().clone(), self.issuer.der().clone()];
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.hosts.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<ServerConfig>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn named(name: &str) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_authority_has_its_own_key() {
        let (one, two) = (Authority::new().unwrap(), Authority::new().unwrap());
        assert_ne!(one.pin(), two.pin());
        assert_eq!(BASE64.decode(one.pin().as_bytes()).unwrap().len(), 32);
    }

    #[test]
    fn hosts_are_kept_and_their_number_is_bounded() {
        let authority = Authority::new().unwrap();
        for host in ["tides.test", "xn--usw99d.test", "127.0.0.1", "::1", "a_b.test"] {
            let config = authority.config(host).unwrap();
            assert!(Arc::ptr_eq(&config, &authority.config(host).unwrap()), "{host}");
        }
        assert!(authority.config("no host\n").is_ok() || authority.kept().len() == 5);
        for number in 0..=KEPT {
            authority.config(&format!("h{number}.test")).unwrap();
        }
        assert!(authority.kept().len() <= KEPT);
    }
}
