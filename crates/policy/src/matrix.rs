//! Which rules could speak for or against which tool.
//!
//! Belongs here: the tool × rule matrix of `config check`, as data and as plain text.
//! Does not belong here: deciding. What a condition lets through cannot be told in general, so a row says
//! only whose scope matches.

use core::fmt;

/// What a rule does when it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Allows, unless a rule forbids.
    Permit,
    /// Denies.
    Forbid,
}

/// Every tool with the rules whose scope could match it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    /// One row a tool, in the order of their names.
    pub rows: Vec<MatrixRow>,
}

/// One tool and the rules whose scope could match it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixRow {
    /// The tool.
    pub tool: String,
    /// The target that it is bound to.
    pub target: String,
    /// The rules, in the order of their names.
    pub rules: Vec<RuleMatch>,
}

impl MatrixRow {
    /// Whether a permit's scope matches. Without one, every call of the tool is denied.
    #[must_use]
    pub fn has_permit(&self) -> bool {
        self.rules.iter().any(|rule| rule.effect == Effect::Permit)
    }
}

/// A rule whose scope could match a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleMatch {
    /// The rule's name.
    pub id: String,
    /// What it does.
    pub effect: Effect,
    /// The only client that it speaks of, if it names one.
    pub client: Option<String>,
    /// Whether it also has a condition.
    pub conditional: bool,
    /// Whether it names its tools; a permit that does not also covers tools declared later.
    pub names_action: bool,
}

impl fmt::Display for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.rows {
            writeln!(f, "{} -> {}", row.tool, row.target)?;
            if !row.has_permit() {
                writeln!(f, "  no permit's scope matches")?;
            }
            for rule in &row.rules {
                writeln!(f, "  {rule}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for RuleMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let effect = match self.effect {
            Effect::Permit => "permit",
            Effect::Forbid => "forbid",
        };
        write!(f, "{effect} {}", self.id)?;
        if let Some(client) = &self.client {
            write!(f, ", only client {client:?}")?;
        }
        if self.conditional {
            f.write_str(", under a condition")?;
        }
        if !self.names_action {
            f.write_str(", any tool")?;
        }
        Ok(())
    }
}
