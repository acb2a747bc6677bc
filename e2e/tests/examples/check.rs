//! The examples as they are, without a mock: an operator copies them and they pass the check.
//!
//! Belongs here: `framegate config check`. Does not belong here: calls.

use std::process::{Command, Stdio};

use framegate_e2e::binary;

use crate::gateway::{self, Credential};

#[test]
fn every_example_passes_the_check_as_it_is() {
    let mut names: Vec<String> = std::fs::read_dir(gateway::examples())
        .expect("the folder of the examples")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter_map(|name| name.strip_suffix(".toml").map(str::to_owned))
        .collect();
    names.sort();
    assert_eq!(names, ["github", "jira", "kubernetes", "powerdns", "twilio"], "an example without a test");
    for (name, credential) in [
        ("github", Credential::Variable("GITHUB_TOKEN")),
        ("jira", Credential::Variable("JIRA_TOKEN")),
        ("kubernetes", Credential::File("kubernetes.token")),
        ("powerdns", Credential::Variable("POWERDNS_API_KEY")),
        ("twilio", Credential::Variable("TWILIO_SECRET")),
    ] {
        let folder = gateway::folder(name, credential, "a-secret-of-nobody-2K9x", str::to_owned);
        let mut command = Command::new(binary::program());
        command.args(["config", "check", "--config"]).arg(folder.path().join(format!("{name}.toml")));
        command.env_clear().stdin(Stdio::null());
        if let Credential::Variable(variable) = credential {
            command.env(variable, "a-secret-of-nobody-2K9x");
        }
        let output = command.output().expect("the program starts");
        assert_eq!(
            (output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()),
            (Some(0), ""),
            "{name}: {}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
}
