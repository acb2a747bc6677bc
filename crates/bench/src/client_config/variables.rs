//! Texts that stand for others: `${env:NAME}` and what else clients fill in.
//!
//! Belongs here: the three notations, and what of them can be known outside the client.
//! Does not belong here: which client uses which.

use super::Skip;

/// What variables are filled in from.
pub struct Surroundings<'s> {
    /// The folder that the client would be opened in: the workspace.
    pub folder: String,
    /// The value of a variable of the environment.
    pub variable: &'s dyn Fn(&str) -> Option<String>,
}

impl std::fmt::Debug for Surroundings<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Surroundings").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// How a client writes that something is to be filled in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Notation {
    /// Texts are taken as they are.
    None,
    /// `${env:NAME}`, `${workspaceFolder}` and others; any other name without a colon is left as it is.
    Editor,
    /// That, and `${NAME}`, `${NAME:-default}`.
    Shell,
    /// `{env:NAME}`, `{file:PATH}`.
    Braces,
}

/// A text that was filled in, and each place where it was: as written, and its value.
pub(super) struct Filled {
    pub(super) text: String,
    pub(super) places: Vec<(String, String)>,
}

impl Notation {
    /// How a place begins.
    const fn opens(self) -> &'static [&'static str] {
        match self {
            Self::None => &[],
            Self::Editor | Self::Shell => &["${"],
            Self::Braces => &["{env:", "{file:"],
        }
    }

    /// Fills a text in.
    ///
    /// # Errors
    /// If it needs something that only the client knows, or that is not set.
    pub(super) fn fill(self, text: &str, surroundings: &Surroundings<'_>) -> Result<Filled, Skip> {
        let mut filled = Filled { text: String::new(), places: Vec::new() };
        let mut rest = text;
        while let Some((before, written, name, behind)) = self.next(rest) {
            filled.text.push_str(before);
            match self.value(written, name, surroundings)? {
                Some(value) => {
                    filled.text.push_str(&value);
                    filled.places.push((written.to_owned(), value));
                }
                None => filled.text.push_str(written),
            }
            rest = behind;
        }
        filled.text.push_str(rest);
        Ok(filled)
    }

    /// The text before the next place, the place as written, the name in it, the text behind.
    fn next(self, text: &str) -> Option<(&str, &str, &str, &str)> {
        let start = self.opens().iter().filter_map(|opens| text.find(opens)).min()?;
        let (before, from) = text.split_at(start);
        let end = from.find('}')?;
        let (written, behind) = from.split_at(end.saturating_add(1));
        let name = written.strip_prefix('$').unwrap_or(written).strip_prefix('{')?.strip_suffix('}')?;
        Some((before, written, name, behind))
    }

    /// What a name stands for; `None` if it is no name at all, and the text stays.
    fn value(
        self,
        written: &str,
        name: &str,
        surroundings: &Surroundings<'_>,
    ) -> Result<Option<String>, Skip> {
        let variable = surroundings.variable;
        let needed = |name: &str| variable(name).ok_or_else(|| Skip::Unset(name.to_owned()));
        if self == Self::Braces {
            return match name.split_once(':') {
                // opencode documents that a variable that is not set is an empty text.
                Some(("env", name)) => Ok(Some(variable(name).unwrap_or_default())),
                Some(("file", _)) => Err(Skip::OtherFile(written.to_owned())),
                _ => Ok(None),
            };
        }
        let folder = &surroundings.folder;
        match name {
            "workspaceFolder" => return Ok(Some(folder.clone())),
            "workspaceFolderBasename" => {
                return Ok(Some(folder.rsplit('/').next().unwrap_or_default().to_owned()));
            }
            "userHome" => return needed("HOME").map(Some),
            "pathSeparator" | "/" => return Ok(Some("/".to_owned())),
            _ => {}
        }
        let is_name = |name: &str| {
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && !name.is_empty()
        };
        if let Some(name) = name.strip_prefix("env:").filter(|name| is_name(name)) {
            return needed(name).map(Some);
        }
        let shell = self == Self::Shell;
        match name.split_once(":-") {
            Some((name, default)) if shell && is_name(name) && !default.contains("${") => {
                Ok(Some(variable(name).unwrap_or_else(|| default.to_owned())))
            }
            _ if shell && is_name(name) => needed(name).map(Some),
            _ if shell || name.contains(':') => Err(Skip::Unknown(shown(name))),
            _ => Ok(None),
        }
    }
}

/// What may be shown of a place that nobody can fill in: its name, and not what a shell would put there instead.
fn shown(name: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "_:./".contains(character);
    let plain: String = name.chars().take_while(|character| is_plain(*character)).collect();
    let rest = if plain.len() < name.len() { "…" } else { "" };
    format!("${{{plain}{rest}}}")
}
