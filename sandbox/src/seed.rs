//! Where every random number comes from.
//!
//! A seed is 32 bytes. A child seed is the BLAKE3 keyed hash, under the parent's
//! bytes, of a label and a number; so each consumer of chance has a stream of its
//! own, and drawing from one moves no other. The derivation is part of the stored
//! formats (version 1) and never changes within a major version:
//!
//! ```text
//! run    = BLAKE3 derive_key("wildgym run seed v1", run seed as u64, little endian)
//! trial  = run.child("task:" + task id, k)
//! call   = trial.child("call", ingress number);  a child call: .child("child", n)
//! ```
//!
//! Variant, condition and attempt do not enter: the same trial under another
//! condition meets the same chances, which is what makes differences paired, and a
//! lost attempt is followed by one that meets them again.

use std::fmt;

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;

/// Context string of the root derivation; a new one for every incompatible change.
const ROOT: &str = "wildgym run seed v1";

/// 32 bytes from which random numbers are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seed([u8; 32]);

impl Seed {
    /// Returns the root seed of a run.
    #[must_use]
    pub fn of_run(number: u64) -> Self {
        Self(blake3::derive_key(ROOT, &number.to_le_bytes()))
    }

    /// Returns the seed of the consumer `label` with the given number.
    #[must_use]
    pub fn child(&self, label: &str, number: u64) -> Self {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(&(label.len() as u64).to_le_bytes());
        hasher.update(label.as_bytes());
        hasher.update(&number.to_le_bytes());
        Self(*hasher.finalize().as_bytes())
    }

    /// Returns a generator that starts at this seed.
    #[must_use]
    pub fn rng(&self) -> ChaCha12Rng {
        ChaCha12Rng::from_seed(self.0)
    }

    /// Returns the bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Seed({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stored runs depend on these values: a change here breaks every replay.
    #[test]
    fn derivation_is_frozen() {
        let trial = Seed::of_run(7).child("task:ds-ferry", 1);
        let want = [
            "215bd687ac89fcfedf51570e263bb3e8f2b646dfe6858f29fbee7d0c0dac909f",
            "606ece246eca8462dec9d98d241bec629c8b7bd8c5c659c804ad4ebf083f6b0b",
            "51d6b0960be3f9b9480c9090029feabe8e17dd8ad3c4136c66ff0a2f44dac318",
        ];
        let got = [Seed::of_run(7), trial, trial.child("call", 3)].map(|seed| seed.to_string());
        assert_eq!(got, want);
    }

    #[test]
    fn label_and_number_cannot_be_confused() {
        let root = Seed::of_run(0);
        let all = [root.child("a", 1), root.child("a1", 0), root.child("a", 0), root.child("", 1)];
        for (i, one) in all.iter().enumerate() {
            assert!(all.iter().skip(i + 1).all(|other| other != one));
        }
    }
}
