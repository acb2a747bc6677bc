//! What a target gets beside what it inherits, and that nobody is shown it.
//!
//! Belongs here: variables, what texts of the command stand for, masking. Does not belong here: where they come from.
//!
//! In the configurations of clients these values are often secrets. A name may be shown, a value never: not in
//! `Debug`, an error or a report, and not where the target itself repeats it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;

use memchr::memmem;

use crate::observe::excerpt;

/// A shorter value is not looked for in what the target writes, in bytes: it would be found in anything.
const SHORTEST_MASKED: usize = 6;

/// Variables that are set for a target, and the values that texts of its command stand for.
#[derive(Clone, Default)]
pub struct Environment {
    variables: Vec<(String, String)>,
    fillings: Vec<(String, String)>,
}

impl fmt::Debug for Environment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names =
            |pairs: &[(String, String)]| pairs.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        formatter
            .debug_struct("Environment")
            .field("variables", &names(&self.variables))
            .field("fillings", &names(&self.fillings))
            .finish()
    }
}

impl Environment {
    /// Sets a variable.
    pub(crate) fn set(&mut self, name: &str, value: String) {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value));
    }

    /// Lets `written`, wherever it stands in the command, be this value when the target is started.
    pub(crate) fn fill_in(&mut self, written: &str, value: String) {
        self.fillings.push((written.to_owned(), value));
    }

    /// The variables, as a launch takes them.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (OsString, Option<OsString>)> + '_ {
        self.variables.iter().map(|(name, value)| (name.into(), Some(value.into())))
    }

    /// Their names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(|(name, _)| name.as_str())
    }

    /// A part of the command, as the target gets it. What was filled in is not looked at again.
    pub(crate) fn filled(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let filling = self.fillings.iter().find_map(|(written, value)| {
                rest.strip_prefix(written.as_str()).map(|behind| (value.as_str(), behind))
            });
            let (piece, behind) = match filling {
                Some((value, behind)) => (value.to_owned(), behind),
                None => (first.to_string(), rest.get(first.len_utf8()..).unwrap_or_default()),
            };
            filled.push_str(&piece);
            rest = behind;
        }
        filled
    }

    /// The bytes with an asterisk for every byte of a value, so that offsets stay what they are.
    pub(crate) fn masked(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        for form in self.forms() {
            let found: Vec<_> = memmem::find_iter(&bytes, &form).collect();
            for start in found {
                if let Some(value) = bytes.get_mut(start..start.saturating_add(form.len())) {
                    value.fill(b'*');
                }
            }
        }
        bytes
    }

    /// The same of a text.
    pub(crate) fn masked_text(&self, text: String) -> String {
        String::from_utf8_lossy(&self.masked(text.into_bytes())).into_owned()
    }

    /// Every form in which a value may be met: as it is, in a JSON string, in an excerpt of either; longest first, so
    /// that a value that is a part of another leaves nothing of the other.
    fn forms(&self) -> Vec<Vec<u8>> {
        let mut forms = BTreeSet::new();
        for (_, value) in self.variables.iter().chain(&self.fillings) {
            if value.len() < SHORTEST_MASKED {
                continue;
            }
            let json = serde_json::Value::from(value.as_str()).to_string();
            for form in [value.as_str(), json.trim_matches('"')] {
                forms.insert(form.as_bytes().to_vec());
                forms.insert(excerpt(form.as_bytes(), usize::MAX).into_bytes());
            }
        }
        let mut forms: Vec<_> = forms.into_iter().filter(|form| !form.is_empty()).collect();
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        forms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> Environment {
        let mut environment = Environment::default();
        environment.set("TOKEN", "se\"cret-1".to_owned());
        environment.set("LEVEL", "info".to_owned());
        environment.fill_in("${env:KEY}", "${env:KEY}-value".to_owned());
        environment
    }

    #[test]
    fn only_names_are_debugged() {
        let shown = format!("{:?}", environment());
        assert!(shown.contains("TOKEN") && shown.contains("${env:KEY}"), "{shown}");
        assert!(!shown.contains("cret") && !shown.contains("value") && !shown.contains("info"), "{shown}");
    }

    #[test]
    fn what_is_filled_in_is_not_filled_again() {
        assert_eq!(environment().filled("a${env:KEY}é${env:KEY}"), "a${env:KEY}-valueé${env:KEY}-value");
        assert_eq!(environment().filled("${env:OTHER}"), "${env:OTHER}");
    }

    #[test]
    fn values_are_masked_in_every_form_and_at_their_length() {
        let masked = |text: &str| environment().masked_text(text.to_owned());
        assert_eq!(masked("a se\"cret-1 b"), "a ********* b");
        assert_eq!(masked("{\"t\":\"se\\\"cret-1\"}"), "{\"t\":\"**********\"}");
        // A JSON string in an excerpt.
        assert_eq!(masked("se\\\\\"cret-1"), "***********");
        assert_eq!(masked("${env:KEY}-value"), "****************");
        // Too short to be told from any other text.
        assert_eq!(masked("info"), "info");
    }

    #[test]
    fn a_variable_that_is_set_twice_has_the_later_value() {
        let mut environment = environment();
        environment.set("TOKEN", "other".to_owned());
        let variables: Vec<_> = environment.variables().collect();
        assert_eq!(variables.iter().filter(|(name, _)| name == "TOKEN").count(), 1);
        assert_eq!(variables.last(), Some(&("TOKEN".into(), Some("other".into()))));
    }
}
