//! The environment as it was at start. Belongs here: the one place that reads secrets from the
//! process environment. Must not: read a name that the configuration does not declare.

use std::collections::BTreeMap;
use std::fmt;
use std::os::unix::ffi::OsStringExt;

use crate::Secret;

/// The values of the declared environment variables, taken once.
///
/// Nothing else of the environment is kept, and nothing reads it again, so that no variable can
/// change the behaviour of a running process.
pub struct Environment {
    values: BTreeMap<String, Option<Secret>>,
}

impl Environment {
    /// Reads exactly `names`, once. A name that is not set is remembered as declared and missing.
    pub fn snapshot<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self::read(names, |name| std::env::var_os(name).map(OsStringExt::into_vec))
    }

    /// As [`Environment::snapshot`], from any lookup function.
    pub(crate) fn read<'a>(
        names: impl IntoIterator<Item = &'a str>,
        lookup: impl Fn(&str) -> Option<Vec<u8>>,
    ) -> Self {
        let values = names.into_iter().map(|name| (name.to_owned(), lookup(name).map(Secret::new))).collect();
        Self { values }
    }

    /// `None`: not declared. `Some(None)`: declared, not set.
    pub(crate) fn value(&self, name: &str) -> Option<Option<&Secret>> {
        self.values.get(name).map(Option::as_ref)
    }
}

impl fmt::Debug for Environment {
    /// Names only.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.values.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn only_declared_names_are_asked_for() {
        let asked = RefCell::new(Vec::new());
        let environment = Environment::read(["B", "A"], |name| {
            asked.borrow_mut().push(name.to_owned());
            (name == "A").then(|| b"value of A".to_vec())
        });
        assert_eq!(*asked.borrow(), ["B", "A"]);
        let value = environment.value("A").flatten();
        assert_eq!(value.map(Secret::expose_bytes), Some(&b"value of A"[..]));
        assert!(environment.value("B").is_some_and(|value| value.is_none()));
        assert!(environment.value("C").is_none());
    }
}
