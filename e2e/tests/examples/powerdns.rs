//! `examples/powerdns.toml`, call by call.

use serde_json::json;

use crate::gateway::Credential;
use crate::world::{Api, Good, Rejected, Shows, Wrong, run};

const JSON: &str = "application/json";

#[test]
fn powerdns() {
    run(&Api {
        name: "powerdns",
        credential: Credential::Variable("POWERDNS_API_KEY"),
        carried: ("x-api-key", str::to_owned),
        good: good(),
        wrong: wrong(),
        rejected: Rejected {
            edit: ("records = [{ content = \"{address}\", disabled = false }]", "records = \"{address}\""),
            tool: "set_address",
            arguments: json!({ "service": "web", "address": "10.30.0.7", "reason": "moved" }),
            status: 422,
            complaint: "must be array",
        },
    });
}

fn good() -> Vec<Good> {
    vec![
        Good {
            tool: "list_zones",
            arguments: json!({}),
            sent: "GET /api/v1/servers/localhost/zones?dnssec=false",
            body: None,
            shows: Shows::Whole,
        },
        Good {
            tool: "get_zone",
            arguments: json!({ "zone": "acme.example" }),
            sent: "GET /api/v1/servers/localhost/zones/acme.example",
            body: None,
            shows: Shows::Whole,
        },
        Good {
            tool: "find",
            arguments: json!({ "part": "web.svc" }),
            sent: "GET /api/v1/servers/localhost/search-data?q=%2Aweb.svc%2A&max=50&object_type=record",
            body: None,
            shows: Shows::Whole,
        },
        Good {
            tool: "look_up",
            arguments: json!({ "path": "/api/v1/servers/localhost/statistics", "query": { "statistic": "uptime", "includerings": false } }),
            sent: "GET /api/v1/servers/localhost/statistics?statistic=uptime&includerings=false",
            body: None,
            shows: Shows::Whole,
        },
        Good {
            tool: "look_up",
            arguments: json!({ "path": "/api/v1/servers/localhost/zones/acme.test/metadata" }),
            sent: "GET /api/v1/servers/localhost/zones/acme.test/metadata",
            body: None,
            shows: Shows::Whole,
        },
        Good {
            tool: "set_address",
            arguments: json!({ "service": "web-2", "address": "10.30.0.7", "reason": "Moved \"again\"" }),
            sent: "PATCH /api/v1/servers/localhost/zones/acme.example",
            body: Some((
                JSON,
                json!({ "rrsets": [{
                    "name": "web-2.svc.acme.example.",
                    "type": "A",
                    "ttl": 300,
                    "changetype": "REPLACE",
                    "records": [{ "content": "10.30.0.7", "disabled": false }],
                    "comments": [{ "account": "release-agent", "content": "Moved \"again\"" }],
                }] }),
            )),
            shows: Shows::Whole,
        },
        Good {
            tool: "flush_cache",
            arguments: json!({ "service": "web-2" }),
            sent: "PUT /api/v1/servers/localhost/cache/flush?domain=web-2.svc.acme.example.",
            body: None,
            shows: Shows::Whole,
        },
        Good {
            tool: "set_owner",
            arguments: json!({ "zone": "acme.test", "teams": ["web", "platform"] }),
            sent: "PUT /api/v1/servers/localhost/zones/acme.test/metadata/X-OWNER",
            body: Some((JSON, json!({ "kind": "X-OWNER", "metadata": ["web", "platform"] }))),
            shows: Shows::Whole,
        },
        Good {
            tool: "clear_owner",
            arguments: json!({ "zone": "acme.test" }),
            sent: "DELETE /api/v1/servers/localhost/zones/acme.test/metadata/X-OWNER",
            body: None,
            shows: Shows::Whole,
        },
    ]
}

fn wrong() -> Vec<Wrong> {
    let keys = "/api/v1/servers/localhost/zones/acme.test/cryptokeys";
    vec![
        Wrong { tool: "get_zone", arguments: json!({ "zone": "acme.com" }), says: "`zone`" },
        Wrong { tool: "find", arguments: json!({ "part": "*" }), says: "`part`" },
        Wrong { tool: "look_up", arguments: json!({ "path": keys }), says: "`path`" },
        Wrong { tool: "set_owner", arguments: json!({ "zone": "acme.test" }), says: "`teams`" },
        Wrong {
            tool: "set_address",
            arguments: json!({ "service": "a.b", "address": "10.30.0.7", "reason": "a" }),
            says: "`service`",
        },
        Wrong {
            tool: "set_address",
            arguments: json!({ "service": "web", "address": "203.0.113.7", "reason": "a" }),
            says: "`address`",
        },
        Wrong {
            tool: "set_address",
            arguments: json!({ "service": "login", "address": "10.30.0.7", "reason": "a" }),
            says: "some-names-stay",
        },
    ]
}
