//! What a good configuration says once it was read.

use std::path::Path;
use std::time::Duration;

use framegate_vault::Source;
use framegate_wire::message::Revision;

use super::{accepted, read};
use crate::config::{
    Allow, Auth, Authorities, Config, LogFile, LogFormat, LogLevel, OnInvalidFrame, ResolverChoice, STARTER,
    Severity,
};
use crate::net::address::AddressPolicy;
use crate::net::proxy::Proxy;

/// Every key there is.
pub(super) const FULL: &str = include_str!("full.toml");

#[test]
fn every_key_arrives() {
    let config = accepted(FULL);
    assert_eq!(config.session.client, "claude-code");
    assert_eq!(config.session.on_invalid_frame, OnInvalidFrame::Continue);
    assert_eq!(config.session.revisions, [Revision::V2025_06_18, Revision::V2026_07_28]);
    assert!(config.session.allow_record);
    assert_eq!(config.session.instructions.as_deref(), Some("Be careful.\nAsk first."));

    assert_eq!(config.limits.wire.max_frame, 65_536);
    assert_eq!(config.limits.wire.max_depth, 32);
    assert_eq!(config.limits.wire.max_members, 1_000);
    assert_eq!(config.limits.wire.max_nodes, 10_000);
    assert_eq!(config.limits.max_refusals, 17);
    assert_eq!(config.limits.max_concurrent, 9);
    assert_eq!(config.limits.max_queued, 65);
    assert_eq!(config.limits.grace, Duration::from_secs(6));
    assert_eq!(config.limits.permit_lifetime, Duration::from_secs(61));

    assert_eq!(config.journal.dir, Path::new("/etc/framegate/records"));
    assert!(!config.journal.sync);
    assert_eq!(config.journal.max_refusal_bytes, 65_536);
    assert_eq!(config.log.level, LogLevel::Debug);
    assert_eq!(config.log.format, LogFormat::Json);
    let file = LogFile { path: "/var/log/framegate.log".into(), max_bytes: 65_536, keep: 4 };
    assert_eq!(config.log.file, Some(file));
    let servers = ["127.0.0.1:5353", "[::1]:53"].map(|text| text.parse().unwrap());
    assert_eq!(config.network.resolver, ResolverChoice::Servers(servers.to_vec()));
    assert_eq!(config.network.proxy, Some(proxy("proxy.example.com", 3128)));
    assert_eq!(
        config.policy_files,
        ["/etc/framegate/policy.cedar", "/etc/framegate/more/policy.cedar"].map(Path::new)
    );

    assert_eq!(config.secrets["from_env"], Source::Environment { variable: "API_TOKEN".to_owned() });
    let file = |path: &str, allow_group_read| Source::File { path: path.into(), allow_group_read };
    assert_eq!(config.secrets["from-file"], file("/run/secrets/api", true));
    assert_eq!(config.secrets["beside"], file("/etc/framegate/keys/api.key", false));
}

#[test]
fn targets_arrive() {
    let config = accepted(FULL);
    let api = &config.targets["api"];
    assert_eq!(api.origin.to_string(), "https://api.example.com:8443");
    assert_eq!(api.host.to_string(), "api.example.com");
    assert_eq!(api.ca, Some(Authorities::File("/etc/framegate/ca.pem".into())));
    assert_eq!(api.proxy, None);
    let ranges = ["10.0.0.0/8", "fd00::/16"].map(|text| text.parse().unwrap());
    assert_eq!(api.addresses, AddressPolicy::new(ranges.to_vec()).unwrap());
    assert_eq!(api.auth, Some(Auth::Bearer { secret: "from_env".to_owned() }));
    assert_eq!(api.headers, [("user-agent".to_owned(), "framegate".to_owned())]);
    assert_eq!((api.deadline, api.connect), (Duration::from_secs(30), Duration::from_secs(5)));
    assert_eq!((api.idle, api.keep_alive), (Duration::from_secs(20), false));
    assert_eq!(api.max_response_bytes, 131_072);

    let local = &config.targets["local"];
    assert_eq!(local.origin.to_string(), "http://127.0.0.1:8080");
    assert_eq!((&local.ca, &local.proxy), (&None, &None));
    assert!(local.addresses.check("127.0.0.1".parse().unwrap()).is_ok());
    assert!(local.addresses.check("93.184.215.14".parse().unwrap()).is_err());
    let auth = Auth::Header { name: "x-api-key".to_owned(), secret: "from-file".to_owned() };
    assert_eq!(local.auth.as_ref().map(Auth::header), Some("x-api-key"));
    assert_eq!(local.auth, Some(auth));
    assert_eq!((local.deadline, local.connect), (Duration::from_secs(50), Duration::from_secs(10)));
    assert_eq!((local.idle, local.keep_alive), (Duration::from_secs(30), true));
    assert_eq!(local.max_response_bytes, 1_048_576);

    let basic = Auth::Basic { user: "me".to_owned(), secret: "beside".to_owned() };
    assert_eq!(basic.header(), "authorization");
    let literal = &config.targets["literal"];
    assert_eq!(literal.auth, Some(basic));
    assert_eq!(literal.ca, Some(Authorities::System));
    assert_eq!(literal.proxy, config.network.proxy);
}

fn proxy(host: &str, port: u16) -> Proxy {
    Proxy::new(host.parse().unwrap(), port).unwrap()
}

#[test]
fn proxies_in_their_one_spelling() {
    for (text, host, port) in [
        ("http://proxy.example.com:3128", "proxy.example.com", 3128),
        ("http://proxy.example.com:80", "proxy.example.com", 80),
        ("http://10.0.0.1:1", "10.0.0.1", 1),
        ("http://127.0.0.1:65535", "127.0.0.1", 65_535),
        ("http://[fd00::1]:8080", "[fd00::1]", 8080),
    ] {
        let config = accepted(&format!("version = 1\n[network]\nproxy = \"{text}\"\n"));
        assert_eq!(config.network.proxy, Some(proxy(host, port)), "{text}");
    }
}

/// What a proxied target may say: a name without ranges, or an address that is judged as ever.
#[test]
fn targets_behind_a_proxy() {
    let head = "version = 1\n[network]\nproxy = \"http://10.0.0.1:3128\"\n[target.a]\nca = \"system\"\n";
    for (origin, more) in [
        ("https://api.example.com", ""),
        ("https://api.example.com", "proxy = true\n"),
        ("https://93.184.215.14", ""),
        ("https://10.1.2.3", "address_ranges = [\"10.0.0.0/8\"]\n"),
    ] {
        let config = accepted(&format!("{head}origin = \"{origin}\"\n{more}"));
        assert_eq!(config.targets["a"].proxy, Some(proxy("10.0.0.1", 3128)), "{origin} {more}");
    }
    let refusal = read(&format!("{head}origin = \"https://10.1.2.3\"\n")).unwrap_err();
    assert!(refusal.to_string().contains("the target's address is not allowed: private use"), "{refusal}");
}

#[test]
fn tools_arrive() {
    let config = accepted(FULL);
    let tool = &config.tools["write_item"];
    assert_eq!((tool.target.as_str(), tool.allow), ("api", Some(Allow::All)));
    assert_eq!(tool.deadline, Some(Duration::from_secs(20)));
    assert_eq!(tool.idempotency_key.as_deref(), Some("idempotency-key"));
    let compiled = config.catalog.get("write_item").unwrap();
    assert_eq!(compiled.title(), Some("Write an item"));
    assert_eq!(compiled.target(), "api");
    assert!(!compiled.is_read_only());
    let names: Vec<_> = compiled.parameters().iter().map(|parameter| parameter.name()).collect();
    let declared =
        ["verb", "id", "path", "title", "size", "price", "open", "root", "host", "link", "text", "labels"];
    assert_eq!(names, declared, "in the order of the file");
    let required = |name: &str| {
        compiled.parameters().iter().any(|parameter| parameter.name() == name && parameter.is_required())
    };
    assert!(required("id") && !required("title") && !required("size"));

    assert_eq!(config.tools["read_item"].allow, Some(Allow::Read));
    assert_eq!(config.tools["search"].allow, None);
    assert_eq!(config.tools["search"].deadline, None);
    assert_eq!(config.tools["search"].idempotency_key, None);
}

#[test]
fn the_least_configuration_has_the_documented_defaults() {
    let config = accepted("version = 1");
    assert_eq!(config.session.client, "default");
    assert_eq!(config.session.on_invalid_frame, OnInvalidFrame::Close);
    assert_eq!(config.session.revisions, Revision::ALL);
    assert!(!config.session.allow_record);
    assert_eq!(config.session.instructions, None);
    assert_eq!(config.limits.wire, framegate_wire::Limits::default());
    assert_eq!(config.limits.wire.max_frame, 4_194_304);
    assert_eq!(
        (config.limits.max_refusals, config.limits.max_concurrent, config.limits.max_queued),
        (16, 8, 64)
    );
    assert_eq!(config.limits.grace, Duration::from_secs(5));
    assert_eq!(config.limits.permit_lifetime, Duration::from_secs(60));
    assert_eq!(config.journal.dir, Path::new("/etc/framegate/journal"));
    assert!(config.journal.sync);
    assert_eq!(config.journal.max_refusal_bytes, 16_777_216);
    assert_eq!(
        (config.log.level, config.log.format, &config.log.file),
        (LogLevel::Info, LogFormat::Text, &None)
    );
    assert_eq!(config.network.resolver, ResolverChoice::System);
    assert_eq!(config.network.proxy, None);
    assert!(config.policy_files.is_empty() && config.secrets.is_empty() && config.targets.is_empty());
    assert_eq!(config.catalog.iter().len(), 0);
}

#[test]
fn line_ends_of_other_systems_are_line_ends() {
    let config = accepted(&FULL.replace('\n', "\r\n"));
    assert_eq!(config.tools.len(), accepted(FULL).tools.len());
}

#[test]
fn the_starter_loads_and_so_it_does_with_its_credential() {
    let config = accepted(STARTER);
    assert_eq!(config.tools["get_issue"].allow, Some(Allow::Read));
    assert!(config.secrets.is_empty(), "the starter needs no secret");

    let commented = [
        "# auth = ",
        "# [secret.github]",
        "# source = ",
        "# [policy]",
        "# files = ",
        "# [journal]",
        "# dir = ",
        "# [log]",
        "# level = ",
        "# file = ",
    ];
    let mut text = String::new();
    let mut found = 0;
    for line in STARTER.lines() {
        let open = commented.iter().any(|start| line.starts_with(start));
        found += usize::from(open);
        text.push_str(if open { &line[2..] } else { line });
        text.push('\n');
    }
    assert_eq!(found, commented.len(), "{text}");
    let config = accepted(&text);
    assert_eq!(config.targets["github"].auth, Some(Auth::Bearer { secret: "github".to_owned() }));
    assert_eq!(config.policy_files.len(), 1);
    assert!(config.log.file.is_some());
}

#[test]
fn what_is_hardly_meant_is_a_warning() {
    let warnings = |text: &str| {
        let mut read = crate::config::read::text("framegate.toml", text, Path::new("/")).unwrap();
        let report = std::mem::take(&mut read.report);
        let faults = report.finish("framegate.toml", text);
        assert!(faults.iter().all(|fault| fault.severity() == Severity::Warning));
        faults.iter().map(|fault| (faults.line(fault), fault.problem().to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(warnings("version = 1"), [(1, "no tool is declared".to_owned())]);
    assert_eq!(warnings(FULL), []);
    assert_eq!(warnings(STARTER), []);
    let unused = format!(
        "{STARTER}\n[target.spare]\norigin = \"https://spare.example.com\"\nca = \"ca.pem\"\n[secret.spare]\nsource = \"env:X\"\n"
    );
    let lines = STARTER.lines().count();
    assert_eq!(
        warnings(&unused),
        [
            (lines + 2, "no tool uses the target `spare`".to_owned()),
            (lines + 5, "no target uses the secret `spare`".to_owned()),
        ]
    );
    let shared = FULL.replace("secret = \"from-file\"", "secret = \"from_env\"");
    let found = warnings(&shared);
    assert!(
        found.iter().any(|(_, problem)| problem == "several targets get the secret `from_env`"),
        "{found:?}"
    );
    let accepts_nothing = STARTER.replace("allow = \"read\"", "code_position = \"accepted\"");
    assert_eq!(warnings(&accepts_nothing).len(), 1);
}

#[test]
fn accepted_code_positions_are_accepted() {
    let search = read(FULL).unwrap();
    assert!(search.tools.contains_key("search"));
    let without = FULL.replace("code_position = \"accepted\"\n", "");
    assert_ne!(without, FULL);
    let faults = super::refused(&without);
    assert_eq!(faults.len(), 1, "{faults}");
}

#[test]
fn debug_of_a_configuration_names_sources_and_nothing_more() {
    let text = format!("{:?}", accepted(FULL));
    assert!(text.contains("API_TOKEN"));
    let _: fn(&Config) -> Config = Clone::clone;
}
