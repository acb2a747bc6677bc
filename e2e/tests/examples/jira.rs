//! `examples/jira.toml`, call by call.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::gateway::Credential;
use crate::world::{Api, Good, Rejected, Shows, Wrong, run};

const JSON: &str = "application/json";

#[test]
fn jira() {
    run(&Api {
        name: "jira",
        credential: Credential::Variable("JIRA_TOKEN"),
        carried: ("authorization", |secret| {
            format!("Basic {}", STANDARD.encode(format!("support-agent@acme.example:{secret}")))
        }),
        good: good(),
        wrong: wrong(),
        rejected: Rejected {
            edit: (
                "transition = { type = \"word\", pattern = \"[0-9]{1,9}\"",
                "transition = { type = \"int\", min = 1",
            ),
            tool: "move_issue",
            arguments: json!({ "key": "OPS-17", "transition": 31 }),
            status: 400,
            complaint: "must be string",
        },
    });
}

/// Jira's document of one paragraph.
fn document(text: &str) -> Value {
    let content = json!([{ "type": "paragraph", "content": [{ "type": "text", "text": text }] }]);
    json!({ "type": "doc", "version": 1, "content": content })
}

fn good() -> Vec<Good> {
    let text = "First line\n\"second\" line";
    vec![
        Good {
            tool: "get_issue",
            arguments: json!({ "key": "OPS-17", "fields": ["summary", "status", "labels"] }),
            sent: "GET /rest/api/3/issue/OPS-17?fields=summary&fields=status&fields=labels",
            body: None,
            shows: Shows::Parts(&[("id", "/id"), ("key", "/key"), ("fields", "/fields")]),
        },
        Good {
            tool: "list_comments",
            arguments: json!({ "key": "OPS-17", "start": 20, "order": "created" }),
            sent: "GET /rest/api/3/issue/OPS-17/comment?startAt=20&maxResults=20&orderBy=created",
            body: None,
            shows: Shows::Whole,
        },
        Good {
            tool: "find_projects",
            arguments: json!({ "keys": ["OPS", "HELP"], "status": ["live", "archived"] }),
            sent: "GET /rest/api/3/project/search?keys=OPS&keys=HELP&status=live&status=archived&startAt=0&maxResults=50",
            body: None,
            shows: Shows::Pages("next"),
        },
        Good {
            tool: "look_up",
            arguments: json!({ "path": "/rest/api/3/issue/OPS-17/transitions", "query": { "includeUnavailableTransitions": true } }),
            sent: "GET /rest/api/3/issue/OPS-17/transitions?includeUnavailableTransitions=true",
            body: None,
            shows: Shows::Whole,
        },
        Good {
            tool: "look_up",
            arguments: json!({ "path": "/rest/api/3/project/OPS/version", "query": { "startAt": 0, "status": "released" } }),
            sent: "GET /rest/api/3/project/OPS/version?startAt=0&status=released",
            body: None,
            shows: Shows::Whole,
        },
        Good {
            tool: "create_issue",
            arguments: json!({ "project": "OPS", "type": "Bug", "summary": "It hangs", "description": text, "labels": ["db"] }),
            sent: "POST /rest/api/3/issue",
            body: Some((
                JSON,
                json!({ "fields": {
                    "project": { "key": "OPS" },
                    "issuetype": { "name": "Bug" },
                    "summary": "It hangs",
                    "labels": ["db"],
                    "description": document(text),
                } }),
            )),
            shows: Shows::Whole,
        },
        Good {
            tool: "edit_issue",
            arguments: json!({ "key": "OPS-17", "priority": "High", "notify": false }),
            sent: "PUT /rest/api/3/issue/OPS-17?notifyUsers=false",
            body: Some((JSON, json!({ "fields": { "priority": { "name": "High" } } }))),
            shows: Shows::Whole,
        },
        Good {
            tool: "add_comment",
            arguments: json!({ "key": "OPS-17", "text": text }),
            sent: "POST /rest/api/3/issue/OPS-17/comment",
            body: Some((JSON, json!({ "body": document(text) }))),
            shows: Shows::Whole,
        },
        Good {
            tool: "move_issue",
            arguments: json!({ "key": "OPS-17", "transition": "31" }),
            sent: "POST /rest/api/3/issue/OPS-17/transitions",
            body: Some((JSON, json!({ "transition": { "id": "31" } }))),
            shows: Shows::Whole,
        },
        Good {
            tool: "log_work",
            arguments: json!({ "key": "OPS-17", "seconds": 3600, "started": "2026-01-31T09:00:00.000+0000" }),
            sent: "POST /rest/api/3/issue/OPS-17/worklog?adjustEstimate=auto&notifyUsers=false",
            body: Some((
                JSON,
                json!({ "timeSpentSeconds": 3600, "started": "2026-01-31T09:00:00.000+0000" }),
            )),
            shows: Shows::Whole,
        },
        Good {
            tool: "delete_comment",
            arguments: json!({ "number": 17, "comment": 10001 }),
            sent: "DELETE /rest/api/3/issue/OPS-17/comment/10001",
            body: None,
            shows: Shows::Whole,
        },
    ]
}

fn wrong() -> Vec<Wrong> {
    vec![
        Wrong {
            tool: "get_issue",
            arguments: json!({ "key": "OPS-17", "fields": ["*all"] }),
            says: "`fields[0]`",
        },
        Wrong { tool: "get_issue", arguments: json!({ "key": "OPS-17/comment" }), says: "`key`" },
        Wrong { tool: "add_comment", arguments: json!({ "key": "OPS-17" }), says: "`text`" },
        Wrong {
            tool: "create_issue",
            arguments: json!({ "project": "SALARIES", "type": "Bug", "summary": "a", "description": "a" }),
            says: "`project`",
        },
        Wrong { tool: "find_projects", arguments: json!({ "status": [] }), says: "`status`" },
        Wrong {
            tool: "look_up",
            arguments: json!({ "path": "/rest/api/3/issue/OPS-17/worklog" }),
            says: "`path`",
        },
        Wrong {
            tool: "look_up",
            arguments: json!({ "path": "/rest/api/3/issue/OPS-17%2Fcomment/transitions" }),
            says: "`path`",
        },
        Wrong {
            tool: "delete_comment",
            arguments: json!({ "number": "HELP-17", "comment": 1 }),
            says: "`number`",
        },
        Wrong {
            tool: "log_work",
            arguments: json!({ "key": "OPS-17", "seconds": 40000, "started": "2026-01-31T09:00:00.000+0000" }),
            says: "no-more-than-ten-hours-at-once",
        },
    ]
}
