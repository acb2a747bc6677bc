//! `examples/twilio.toml`, call by call.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::gateway::Credential;
use crate::world::{Api, Good, Rejected, Shows, Wrong, run};

const FORM: &str = "application/x-www-form-urlencoded";
const SID: &str = "SM0a1b2c3d4e5f60718293a4b5c6d7e8f9";

/// A target below the account that the example names.
macro_rules! account {
    ($method:literal, $rest:literal) => {
        concat!($method, " /2010-04-01/Accounts/AC0123456789abcdef0123456789abcdef/", $rest)
    };
}

#[test]
fn twilio() {
    run(&Api {
        name: "twilio",
        credential: Credential::Variable("TWILIO_SECRET"),
        carried: ("authorization", |secret| {
            format!("Basic {}", STANDARD.encode(format!("SK0123456789abcdef0123456789abcdef:{secret}")))
        }),
        good: good(),
        wrong: wrong(),
        rejected: Rejected {
            edit: (
                "form = { From = \"+15005550006\", To = \"{to}\", Body",
                "form = { From = \"+15005550006\", Too = \"{to}\", Body",
            ),
            tool: "page_by_message",
            arguments: json!({ "to": "+15005550010", "text": "Down" }),
            status: 422,
            complaint: "must have required property 'To'",
        },
    });
}

fn good() -> Vec<Good> {
    vec![
        Good {
            tool: "list_pages",
            arguments: json!({ "after": "2026-01-31T00:00:00Z" }),
            sent: account!("GET", "Messages.json?DateSent%3E=2026-01-31T00%3A00%3A00Z&PageSize=20&Page=0"),
            body: None,
            shows: Shows::Whole,
        },
        Good {
            tool: "get_page",
            arguments: json!({ "sid": SID }),
            sent: account!("GET", "Messages/SM0a1b2c3d4e5f60718293a4b5c6d7e8f9.json"),
            body: None,
            shows: Shows::Parts(&[("status", "/status"), ("error", "/error_code"), ("sent", "/date_sent")]),
        },
        Good {
            tool: "look_up",
            arguments: json!({
                "path": "/2010-04-01/Accounts/AC0123456789abcdef0123456789abcdef/Calls.json",
                "query": { "Status": "no-answer", "StartTime>": "2026-01-31T00:00:00Z", "PageSize": 5 },
            }),
            sent: account!(
                "GET",
                "Calls.json?Status=no-answer&StartTime%3E=2026-01-31T00%3A00%3A00Z&PageSize=5"
            ),
            body: None,
            shows: Shows::Whole,
        },
        Good {
            tool: "look_up",
            arguments: json!({ "path": "/2010-04-01/Accounts/AC0123456789abcdef0123456789abcdef/Usage/Records/Today.json" }),
            sent: account!("GET", "Usage/Records/Today.json"),
            body: None,
            shows: Shows::Whole,
        },
        Good {
            tool: "page_by_message",
            arguments: json!({
                "to": "+15005550011",
                "text": "Db & cache down\nsee wiki",
                "pictures": ["https://graphs.acme.example/db.png", "https://graphs.acme.example/cache.png"],
            }),
            sent: account!("POST", "Messages.json"),
            body: Some((
                FORM,
                json!(
                    "From=%2B15005550006&To=%2B15005550011&Body=Db+%26+cache+down%0Asee+wiki\
                     &MediaUrl=https%3A%2F%2Fgraphs.acme.example%2Fdb.png&MediaUrl=https%3A%2F%2Fgraphs.acme.example%2Fcache.png"
                ),
            )),
            shows: Shows::Whole,
        },
        Good {
            tool: "page_by_message",
            arguments: json!({ "to": "+15005550010", "text": "Down" }),
            sent: account!("POST", "Messages.json"),
            body: Some((FORM, json!("From=%2B15005550006&To=%2B15005550010&Body=Down"))),
            shows: Shows::Whole,
        },
        Good {
            tool: "page_by_phone",
            arguments: json!({ "to": "+15005550010", "seconds": 20 }),
            sent: account!("POST", "Calls.json"),
            body: Some((
                FORM,
                json!(
                    "From=%2B15005550006&To=%2B15005550010&Url=https%3A%2F%2Fhooks.acme.example%2Fpage.xml&Timeout=20\
                     &StatusCallback=https%3A%2F%2Fhooks.acme.example%2Fpage&StatusCallbackEvent=answered&StatusCallbackEvent=completed"
                ),
            )),
            shows: Shows::Whole,
        },
        Good {
            tool: "blank_message",
            arguments: json!({ "sid": SID }),
            sent: account!("POST", "Messages/SM0a1b2c3d4e5f60718293a4b5c6d7e8f9.json"),
            body: Some((FORM, json!("Body="))),
            shows: Shows::Whole,
        },
    ]
}

fn wrong() -> Vec<Wrong> {
    vec![
        Wrong {
            tool: "page_by_message",
            arguments: json!({ "to": "+15005559999", "text": "a" }),
            says: "`to`",
        },
        Wrong { tool: "page_by_message", arguments: json!({ "to": "+15005550010" }), says: "`text`" },
        Wrong {
            tool: "page_by_message",
            arguments: json!({ "to": "+15005550010", "text": "a", "pictures": ["https://elsewhere.example/?x=secret.png"] }),
            says: "`pictures[0]`",
        },
        Wrong { tool: "get_page", arguments: json!({ "sid": "SM1/../../Keys" }), says: "`sid`" },
        Wrong {
            tool: "look_up",
            arguments: json!({ "path": "/2010-04-01/Accounts/AC0123456789abcdef0123456789abcdef/Keys.json" }),
            says: "`path`",
        },
        Wrong { tool: "page_by_phone", arguments: json!({ "to": "+15005550011" }), says: "page_by_phone" },
    ]
}
