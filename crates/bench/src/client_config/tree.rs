//! A configuration as it was written, of whichever language, and how its members are read.
//!
//! Belongs here: texts, flags, lists, tables in the order of the file; what is wrong with a member, and where.
//! Does not belong here: languages, clients. A tree holds secrets: it has no `Debug`, and no fault shows a value.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::ConfigError;

/// A value.
pub(super) enum Tree {
    Text(String),
    Flag(bool),
    List(Vec<Tree>),
    /// In the order of the file; a name may stand there twice.
    Table(Vec<(String, Tree)>),
    /// Said to be nothing, which is the same as not said.
    Null,
    /// Numbers and dates: no member that is read here is one.
    Other,
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Tree;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("any value")
            }

            fn visit_bool<E>(self, flag: bool) -> Result<Tree, E> {
                Ok(Tree::Flag(flag))
            }

            fn visit_i64<E>(self, _: i64) -> Result<Tree, E> {
                Ok(Tree::Other)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Tree, E> {
                Ok(Tree::Other)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Tree, E> {
                Ok(Tree::Other)
            }

            fn visit_str<E>(self, text: &str) -> Result<Tree, E> {
                Ok(Tree::Text(text.to_owned()))
            }

            fn visit_string<E>(self, text: String) -> Result<Tree, E> {
                Ok(Tree::Text(text))
            }

            fn visit_unit<E>(self) -> Result<Tree, E> {
                Ok(Tree::Null)
            }

            fn visit_none<E>(self) -> Result<Tree, E> {
                Ok(Tree::Null)
            }

            fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
                Tree::deserialize(deserializer)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Tree, A::Error> {
                let mut list = Vec::new();
                while let Some(value) = access.next_element()? {
                    list.push(value);
                }
                Ok(Tree::List(list))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Tree, A::Error> {
                let mut table = Vec::new();
                while let Some(entry) = access.next_entry()? {
                    table.push(entry);
                }
                Ok(Tree::Table(table))
            }
        }

        deserializer.deserialize_any(Any)
    }
}

/// A table, and where in the file it stands.
pub(super) struct Place<'t> {
    path: String,
    table: &'t [(String, Tree)],
}

impl<'t> Place<'t> {
    /// The whole file, if it is a table.
    pub(super) fn root(tree: &'t Tree) -> Option<Self> {
        match tree {
            Tree::Table(table) => Some(Self { path: String::new(), table }),
            _ => None,
        }
    }

    /// What is wrong with this member.
    pub(super) fn fault(&self, name: &str, what: &'static str) -> ConfigError {
        ConfigError::Member { place: self.path_of(name), what }
    }

    fn path_of(&self, name: &str) -> String {
        let name = name.escape_debug();
        if self.path.is_empty() { name.to_string() } else { format!("{}.{name}", self.path) }
    }

    fn find(&self, name: &str) -> Result<Option<&'t Tree>, ConfigError> {
        let mut found = self.table.iter().filter(|(known, _)| known == name).map(|(_, value)| value);
        match (found.next(), found.next()) {
            (_, Some(_)) => {
                Err(self.fault(name, "stands there twice, and clients differ in which one they take"))
            }
            (Some(Tree::Null) | None, None) => Ok(None),
            (Some(value), None) => Ok(Some(value)),
        }
    }

    /// Whether there is such a member.
    pub(super) fn has(&self, name: &str) -> bool {
        self.table.iter().any(|(known, value)| known == name && !matches!(value, Tree::Null))
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<&'t str>, ConfigError> {
        match self.find(name)? {
            None => Ok(None),
            Some(Tree::Text(text)) => Ok(Some(self.without_nul(name, text)?)),
            Some(_) => Err(self.fault(name, "must be a text")),
        }
    }

    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, ConfigError> {
        match self.find(name)? {
            None => Ok(None),
            Some(Tree::Flag(flag)) => Ok(Some(*flag)),
            Some(_) => Err(self.fault(name, "must be true or false")),
        }
    }

    fn list(&self, name: &str) -> Result<&'t [Tree], ConfigError> {
        match self.find(name)? {
            None => Ok(&[]),
            Some(Tree::List(list)) => Ok(list),
            Some(_) => Err(self.fault(name, "must be a list")),
        }
    }

    pub(super) fn texts(&self, name: &str) -> Result<Vec<&'t str>, ConfigError> {
        let one = |value: &'t Tree| match value {
            Tree::Text(text) => self.without_nul(name, text),
            _ => Err(self.fault(name, "must be a list of texts")),
        };
        self.list(name)?.iter().map(one).collect()
    }

    /// A list whose members are texts, or tables with a `name`.
    pub(super) fn named(&self, name: &str) -> Result<Vec<(&'t str, Option<Place<'t>>)>, ConfigError> {
        let wrong = || self.fault(name, "must be a list of names");
        let one = |value: &'t Tree| match value {
            Tree::Text(text) => Ok((self.without_nul(name, text)?, None)),
            Tree::Table(table) => {
                let place = Self { path: self.path_of(name), table };
                Ok((place.text("name")?.ok_or_else(wrong)?, Some(place)))
            }
            _ => Err(wrong()),
        };
        self.list(name)?.iter().map(one).collect()
    }

    pub(super) fn place(&self, name: &str) -> Result<Option<Self>, ConfigError> {
        match self.find(name)? {
            None => Ok(None),
            Some(Tree::Table(table)) => Ok(Some(Self { path: self.path_of(name), table })),
            Some(_) => Err(self.fault(name, "must be a table")),
        }
    }

    /// The same of a member that may be something else, in which case it is none of ours.
    pub(super) fn place_if_any(&self, name: &str) -> Option<Self> {
        self.place(name).ok().flatten()
    }

    /// Every member that is a table, in the order of the file.
    pub(super) fn places(&self) -> Result<Vec<(&'t str, Self)>, ConfigError> {
        let mut places = Vec::new();
        for (name, _) in self.table {
            let place = self.place(name)?.ok_or_else(|| self.fault(name, "must be a table"))?;
            places.push((name.as_str(), place));
        }
        Ok(places)
    }

    /// Names and texts: the variables of an environment.
    pub(super) fn variables(&self, name: &str) -> Result<Vec<(&'t str, &'t str)>, ConfigError> {
        let Some(place) = self.place(name)? else { return Ok(Vec::new()) };
        let mut variables = Vec::new();
        for (variable, _) in place.table {
            if variable.is_empty() || variable.contains(['=', '\0']) {
                return Err(place.fault(variable, "is no name of a variable"));
            }
            let value = place.text(variable)?.ok_or_else(|| place.fault(variable, "must be a text"))?;
            variables.push((variable.as_str(), value));
        }
        Ok(variables)
    }

    fn without_nul(&self, name: &str, text: &'t str) -> Result<&'t str, ConfigError> {
        if text.contains('\0') {
            return Err(self.fault(name, "holds a NUL, which no program can be given"));
        }
        Ok(text)
    }
}
