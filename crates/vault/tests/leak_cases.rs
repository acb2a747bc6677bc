//! The shared leak cases: what must be masked, shown, withheld, or refused at load. Every case runs; the
//! one that another part of the product answers is named here, with what the redactor makes of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use framegate_vault::{
    Environment, FileFault, Redacted, Redactor, Secret, Source, VaultError, Watched, Weakness,
};
use serde_json::Value;

/// A field that holds no secret, but says that the body cannot be searched: the HTTP executor refuses the
/// body (`docs/decisions/0013-a-net-that-reads.md`). The redactor shows the field as it is.
const ANSWERED_BY_THE_EXECUTOR: &[&str] = &["leak-077"];

/// The expected refusals, by the value's case.
fn is_right_refusal(id: &str, error: &VaultError) -> bool {
    let weak = |expected: Weakness| matches!(error, VaultError::Weak { fault, .. } if *fault == expected);
    match id {
        "leak-105" => matches!(error, VaultError::File { fault: FileFault::Empty, .. }),
        "leak-106" => weak(Weakness::TooShort),
        "leak-107" | "leak-111" => weak(Weakness::CommonWord),
        "leak-108" => weak(Weakness::Blank),
        "leak-109" => weak(Weakness::EqualsName),
        "leak-110" => weak(Weakness::Guessable),
        "leak-112" => weak(Weakness::EqualsPlaceholder),
        "leak-113" => matches!(error, VaultError::NotHeaderSafe { .. }),
        _ => false,
    }
}

struct Shared {
    cases: Vec<Value>,
    secrets: BTreeMap<String, (Secret, Option<String>)>,
}

/// `None` without `FRAMEGATE_SHARED`; a failure if it is set and the data is not there.
fn shared() -> Option<Shared> {
    let Some(root) = std::env::var_os("FRAMEGATE_SHARED") else {
        eprintln!("SKIPPED: leak cases: FRAMEGATE_SHARED is not set");
        return None;
    };
    let folder = PathBuf::from(root).join("cases");
    let json = |name: &str| -> Value {
        let path = folder.join(name);
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
        serde_json::from_str(&text).expect("shared cases are JSON")
    };
    let secrets = json("secret_leak_secrets.json")["secrets"]
        .as_object()
        .expect("secrets by id")
        .iter()
        .map(|(id, secret)| {
            let value = secret["value"].as_str().expect("a secret has a value");
            let user = secret["user"].as_str().map(str::to_owned);
            (id.clone(), (load(id, value.as_bytes()).expect("an acceptable secret"), user))
        })
        .collect();
    let cases = json("secret_leak_cases.json");
    Some(Shared { cases: cases.as_array().expect("a list of cases").clone(), secrets })
}

/// As a running gateway loads a secret: from a file, with every check.
fn load(name: &str, bytes: &[u8]) -> Result<Secret, VaultError> {
    use std::io::Write;
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file, mode 0600");
    file.write_all(bytes).expect("a small write");
    let path = file.path().to_str().expect("a plain path");
    Source::parse(&format!("file:{path}"), false)?.load(name, &Environment::snapshot([]))
}

fn redactor(shared: &Shared) -> Redactor {
    let watched =
        shared.secrets.iter().map(|(name, (secret, user))| Watched { name, secret, user: user.as_deref() });
    Redactor::new(watched).expect("a redactor")
}

#[test]
fn leak_cases_hold() {
    let Some(shared) = shared() else { return };
    let redactor = redactor(&shared);
    let (mut counts, mut failures) = (BTreeMap::<&str, usize>::new(), Vec::new());
    for case in &shared.cases {
        let id = case["id"].as_str().expect("an id");
        let expect = case["expect"].as_str().expect("an expectation");
        *counts.entry(expect).or_default() += 1;
        let failure = match expect {
            "config_refuse" => match refusal(case) {
                Some(error) if is_right_refusal(id, &error) => None,
                other => Some(format!("{other:?}")),
            },
            "redact" | "withhold" | "show" | "residual" => {
                let (shown, expected) = (shown(&redactor, case), expected(case));
                let elsewhere = ANSWERED_BY_THE_EXECUTOR.contains(&id);
                let holds = if elsewhere { shown[0].1 == case["raw"] } else { shown == expected };
                if expect == "residual" || elsewhere {
                    let by = if elsewhere { "answered by the executor" } else { "residual, not caught" };
                    eprintln!("{by}: {id}: {}", case["reason"]);
                }
                (!holds).then(|| format!("{shown:?}"))
            }
            other => Some(format!("unknown expectation {other}")),
        };
        failures.extend(failure.map(|found| format!("{id} ({}): {found}", case["reason"])));
    }
    eprintln!("leak cases: {} ran: {counts:?}; {} failed", shared.cases.len(), failures.len());
    assert!(failures.is_empty(), "{failures:#?}");
    assert!(shared.cases.len() >= 96, "only {} cases", shared.cases.len());
}

/// What the agent would see, stream by stream.
fn shown(redactor: &Redactor, case: &Value) -> Vec<(String, String)> {
    let limit = case["output_limit"].as_u64();
    inputs(case)
        .into_iter()
        .map(|(stream, pieces)| {
            let mut output = Vec::new();
            let mut redactions = Vec::new();
            let mut redaction = redactor.stream();
            for piece in &pieces {
                redactions.extend(redaction.push(piece, &mut output));
            }
            let ending = redaction.finish(&mut output);
            redactions.extend(ending.redactions);
            let whole = pieces.concat();
            let at_once = redactor.redact(&whole);
            let streamed = Redacted { bytes: output.into(), redactions, suspected: ending.suspected };
            assert_eq!(at_once, streamed, "streamed and whole differ: {}", case["id"]);
            let limit = limit.map_or(usize::MAX, |limit| limit.try_into().expect("a small limit"));
            let shown = match at_once.suspected {
                true => Redacted::WITHHELD.into(),
                false => String::from_utf8_lossy(at_once.truncated(limit)).into_owned(),
            };
            (stream, shown)
        })
        .collect()
}

fn inputs(case: &Value) -> Vec<(String, Vec<Vec<u8>>)> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let bytes = |value: &Value| text(value).into_bytes();
    match (&case["chunks"], &case["raw"]) {
        (Value::Array(chunks), _) if chunks.iter().all(Value::is_array) => {
            chunks.iter().map(|chunk| (text(&chunk[0]), vec![bytes(&chunk[1])])).collect()
        }
        (Value::Array(chunks), _) => vec![(String::new(), chunks.iter().map(bytes).collect())],
        (_, raw) if given_in_base64(case) => {
            vec![(String::new(), vec![STANDARD.decode(text(raw)).expect("base64")])]
        }
        (_, raw) => vec![(String::new(), vec![bytes(raw)])],
    }
}

/// Bodies that are not text are written in base64; their reason says so.
fn given_in_base64(case: &Value) -> bool {
    let reason = case["reason"].as_str().expect("a reason");
    reason.contains("(given in base64)") || reason.contains("(given here in base64)")
}

fn expected(case: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    match &case["must_show"] {
        Value::Array(streams) => streams.iter().map(|stream| (text(&stream[0]), text(&stream[1]))).collect(),
        shown => vec![(String::new(), text(shown))],
    }
}

/// Why it is refused as a secret, or as a header value if it was declared as one.
fn refusal(case: &Value) -> Option<VaultError> {
    let value = case["secret_value"].as_str().expect("a secret value");
    match load("k1", value.as_bytes()) {
        Err(error) => Some(error),
        Ok(secret) => secret.expose_header_bytes("k1").err(),
    }
}
