//! The shared leak cases: what must be masked, shown, or refused at load. Cases that need a
//! spelling or a rule that does not exist yet are listed with the reason, never skipped silently.

use std::collections::BTreeMap;
use std::path::PathBuf;

use framegate_vault::{Environment, Redactor, Secret, Source, Watched};
use serde_json::Value;

/// Cases without a product path, and what each would need.
const NOT_APPLICABLE: &[(&str, &[&str])] = &[
    ("hexadecimal spellings", &["leak-033", "leak-034", "leak-035"]),
    ("HTML references", &["leak-047", "leak-048", "leak-049"]),
    ("shell-quoted spelling", &["leak-050"]),
    ("Unicode decomposition", &["leak-053"]),
    ("decoding of UTF-16", &["leak-056"]),
    ("search in text without line breaks", &["leak-061"]),
    ("the fragment rule", &["leak-065", "leak-067", "leak-069", "leak-070"]),
    ("detection of compressed data", &["leak-075", "leak-076"]),
    ("the content-encoding rule of the HTTP executor", &["leak-077"]),
    ("search in text without white space", &["leak-079", "leak-083", "leak-084"]),
    ("quoted-printable", &["leak-080"]),
    ("search in text without terminal escapes", &["leak-081"]),
    ("search in text without format characters", &["leak-082"]),
    ("search without case", &["leak-085"]),
    ("reversed spelling", &["leak-088"]),
    ("base32", &["leak-093"]),
    ("base64 twice", &["leak-095"]),
];

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
fn load(name: &str, bytes: &[u8]) -> Result<Secret, framegate_vault::VaultError> {
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

fn reason_not_applicable(id: &str) -> Option<&'static str> {
    NOT_APPLICABLE.iter().find_map(|(reason, ids)| ids.contains(&id).then_some(*reason))
}

#[test]
fn leak_cases_hold() {
    let Some(shared) = shared() else { return };
    let redactor = redactor(&shared);
    let (mut ran, mut failures) = (0, Vec::new());
    for case in &shared.cases {
        let id = case["id"].as_str().expect("an id");
        if let Some(reason) = reason_not_applicable(id) {
            eprintln!("not applicable: {id}: needs {reason}");
            // A case that holds by now has no business in the list.
            if shown(&redactor, case) == expected(case) {
                failures.push(format!("{id}: listed as not applicable, but holds"));
            }
            continue;
        }
        ran += 1;
        let holds = match case["expect"].as_str() {
            Some("config_refuse") => refused_at_load(case),
            _ => shown(&redactor, case) == expected(case),
        };
        if !holds {
            failures.push(format!("{id}: {}", case["reason"]));
        }
    }
    eprintln!("leak cases: {ran} ran, {} not applicable", shared.cases.len() - ran);
    assert!(failures.is_empty(), "{failures:#?}");
    assert!(ran >= 60, "only {ran} cases ran");
}

/// What the agent would see, stream by stream.
fn shown(redactor: &Redactor, case: &Value) -> Vec<(String, String)> {
    let limit = case["output_limit"].as_u64();
    inputs(case)
        .into_iter()
        .map(|(stream, pieces)| {
            let mut output = Vec::new();
            let mut redaction = redactor.stream();
            for piece in &pieces {
                redaction.push(piece.as_bytes(), &mut output);
            }
            redaction.finish(&mut output);
            let whole = pieces.concat();
            let at_once = redactor.redact(whole.as_bytes());
            assert_eq!(at_once.bytes, output, "streamed and whole differ: {}", case["id"]);
            let shown = match limit {
                Some(limit) => at_once.truncated(limit.try_into().expect("a small limit")),
                None => &output,
            };
            (stream, String::from_utf8_lossy(shown).into_owned())
        })
        .collect()
}

fn inputs(case: &Value) -> Vec<(String, Vec<String>)> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    match (&case["chunks"], &case["raw"]) {
        (Value::Array(chunks), _) if chunks.iter().all(Value::is_array) => {
            chunks.iter().map(|chunk| (text(&chunk[0]), vec![text(&chunk[1])])).collect()
        }
        (Value::Array(chunks), _) => vec![(String::new(), chunks.iter().map(text).collect())],
        (_, raw) => vec![(String::new(), vec![raw.as_str().unwrap_or_default().to_owned()])],
    }
}

fn expected(case: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match &case["must_show"] {
        Value::Array(streams) => streams.iter().map(|stream| (text(&stream[0]), text(&stream[1]))).collect(),
        shown => vec![(String::new(), text(shown))],
    }
}

/// Refused as a secret, or as a header value if it was declared as one.
fn refused_at_load(case: &Value) -> bool {
    let value = case["secret_value"].as_str().expect("a secret value");
    match load("k1", value.as_bytes()) {
        Err(_) => true,
        Ok(secret) => secret.expose_header_bytes("k1").is_err(),
    }
}
