//! How the target of a case was started: what makes its session different from the others.
//!
//! Belongs here: command, folder, variables, streams, as they are shown. Does not belong here: starting, a configuration's
//! values, which nobody is shown.

use serde::Serialize;

use crate::observe::excerpt;
use crate::options::Options;
use crate::target::{Launch, Stderr, Stdout};

/// How a target was started.
#[derive(Clone, Debug, Serialize)]
pub struct Launched {
    /// The program and its arguments, placeholders filled in; escaped.
    pub command: Vec<String>,
    /// Its working folder; the bench's own if there is none.
    pub folder: Option<String>,
    /// The names of the variables that it inherits; all if there is no list.
    pub inherits: Option<Vec<&'static str>>,
    /// Variables that are set, or removed, beside those.
    pub environment: Vec<Variable>,
    /// How its stdout is read: `at once`, or `slowly`.
    pub stdout: &'static str,
    /// What its stderr is: `read`, `closed`, `never read`, `stdout's pipe`.
    pub stderr: &'static str,
    /// Whether its system calls are observed.
    pub observed: bool,
}

/// A variable of the environment.
#[derive(Clone, Debug, Serialize)]
pub struct Variable {
    /// Its name, escaped.
    pub name: String,
    /// Its value, escaped; none where it is removed, and where it is a configuration's.
    pub value: Option<String>,
    /// Whether a configuration sets it: then the value is shown nowhere.
    pub configured: bool,
}

impl Launched {
    pub(super) fn new(launch: &Launch, options: &Options) -> Self {
        let shown = |text: &std::ffi::OsStr| {
            options.environment.masked_text(excerpt(text.as_encoded_bytes(), usize::MAX))
        };
        let variable = |(name, value): &(std::ffi::OsString, Option<std::ffi::OsString>)| {
            let configured = options.environment.variables().any(|set| set.0 == *name && set.1 == *value);
            let value = value.as_deref().filter(|_| !configured).map(shown);
            Variable { name: shown(name), value, configured }
        };
        Self {
            command: launch.command.iter().map(|part| shown(part)).collect(),
            folder: launch.folder.as_ref().map(|folder| shown(folder.as_os_str())),
            inherits: launch.inherits.map(<[_]>::to_vec),
            environment: launch.environment.iter().map(variable).collect(),
            stdout: match launch.stdout {
                Stdout::Prompt => "at once",
                Stdout::Slow => "slowly",
            },
            stderr: match launch.stderr {
                Stderr::Kept => "read",
                Stderr::Closed => "closed",
                Stderr::Undrained => "never read",
                Stderr::Merged => "stdout's pipe",
            },
            observed: launch.tracer.is_some(),
        }
    }

    /// What is otherwise than in production, on one line; nothing if that is nothing.
    pub(super) fn differences(&self) -> Option<String> {
        let variables = self.environment.iter().filter(|variable| !variable.configured);
        let mut told: Vec<_> = variables
            .map(|Variable { name, value, .. }| match value {
                Some(value) => format!("{name}={value}"),
                None => format!("without {name}"),
            })
            .collect();
        told.extend(self.folder.iter().map(|folder| format!("in {folder}")));
        told.extend(self.inherits.iter().map(|names| format!("inheriting {} only", names.join(" "))));
        told.extend((self.stdout != "at once").then(|| format!("its stdout is read {}", self.stdout)));
        told.extend((self.stderr != "read").then(|| format!("its stderr is {}", self.stderr)));
        (!told.is_empty()).then(|| told.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::options;
    use super::*;
    use crate::environment::Environment;

    #[test]
    fn what_differs_is_told_and_values_of_a_configuration_are_not() {
        let mut environment = Environment::default();
        environment.set("PIN", "1234".to_owned());
        let options = Options { environment, ..options() };
        let mut launch = Launch {
            command: vec!["x\u{1b}".into()],
            inherits: None,
            environment: options.environment.variables().collect(),
            folder: None,
            stdout: Stdout::Prompt,
            stderr: Stderr::Kept,
            tracer: None,
            patience: std::time::Duration::ZERO,
        };
        let launched = Launched::new(&launch, &options);
        assert_eq!(launched.command, ["x\\x1b"]);
        assert_eq!(launched.differences(), None);
        assert!(!serde_json::to_string(&launched).unwrap().contains("1234"));
        launch.environment.extend([("LANG".into(), Some("C".into())), ("HOME".into(), None)]);
        (launch.stderr, launch.folder) = (Stderr::Closed, Some("/proc".into()));
        let told = Launched::new(&launch, &options).differences().unwrap();
        assert_eq!(told, "LANG=C, without HOME, in /proc, its stderr is closed");
    }
}
