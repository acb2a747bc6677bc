//! `examples/github.toml`, call by call.

use serde_json::json;

use crate::gateway::Credential;
use crate::world::{Api, Good, Rejected, Shows, Wrong, run};

const JSON: &str = "application/json";

#[test]
fn github() {
    run(&Api {
        name: "github",
        credential: Credential::Variable("GITHUB_TOKEN"),
        carried: ("authorization", |secret| format!("Bearer {secret}")),
        good: good(),
        wrong: wrong(),
        rejected: Rejected {
            edit: ("body = { body = \"{text}\" }", "body = { text = \"{text}\" }"),
            tool: "comment_on_issue",
            arguments: json!({ "repo": "web", "number": 7, "text": "seen" }),
            status: 422,
            complaint: "must have required property 'body'",
        },
    });
}

fn good() -> Vec<Good> {
    let text = "First line\n\"second\" line";
    vec![
        Good {
            tool: "list_issues",
            arguments: json!({ "repo": "web", "labels": "bug,needs info", "since": "2026-01-31T00:00:00Z", "page": 2 }),
            sent: "GET /repos/acme/web/issues?state=open&labels=bug%2Cneeds%20info&since=2026-01-31T00%3A00%3A00Z&per_page=30&page=2",
            body: None,
            shows: Shows::Whole,
        },
        Good {
            tool: "get_issue",
            arguments: json!({ "repo": "web", "number": "7" }),
            sent: "GET /repos/acme/web/issues/7",
            body: None,
            shows: Shows::Parts(&[
                ("title", "/title"),
                ("body", "/body"),
                ("state", "/state"),
                ("author", "/user/login"),
                ("updated", "/updated_at"),
            ]),
        },
        Good {
            tool: "list_pull_requests",
            arguments: json!({ "repo": "web", "state": "all", "base": "release/1.2" }),
            sent: "GET /repos/acme/web/pulls?state=all&base=release%2F1.2&per_page=10&page=1",
            body: None,
            shows: Shows::Pages("next"),
        },
        Good {
            tool: "read_builds",
            arguments: json!({ "path": "/repos/acme/web/actions/runs", "query": { "status": "failure", "per_page": 5 } }),
            sent: "GET /repos/acme/web/actions/runs?status=failure&per_page=5",
            body: None,
            shows: Shows::Whole,
        },
        Good {
            tool: "read_builds",
            arguments: json!({ "method": "GET", "path": "/repos/acme/web/commits/main/status" }),
            sent: "GET /repos/acme/web/commits/main/status",
            body: None,
            shows: Shows::Whole,
        },
        Good {
            tool: "create_issue",
            arguments: json!({ "repo": "web", "title": "It hangs", "body": text, "labels": ["bug", "needs info"] }),
            sent: "POST /repos/acme/web/issues",
            body: Some((JSON, json!({ "title": "It hangs", "body": text, "labels": ["bug", "needs info"] }))),
            shows: Shows::Whole,
        },
        Good {
            tool: "create_issue",
            arguments: json!({ "repo": "web", "title": "Only a title", "assignees": ["octocat"] }),
            sent: "POST /repos/acme/web/issues",
            body: Some((JSON, json!({ "title": "Only a title", "assignees": ["octocat"] }))),
            shows: Shows::Whole,
        },
        Good {
            tool: "update_issue",
            arguments: json!({ "repo": "web", "number": 7, "state": "closed", "reason": "not_planned" }),
            sent: "PATCH /repos/acme/web/issues/7",
            body: Some((JSON, json!({ "state": "closed", "state_reason": "not_planned" }))),
            shows: Shows::Whole,
        },
        Good {
            tool: "comment_on_issue",
            arguments: json!({ "repo": "web", "number": 7, "text": text }),
            sent: "POST /repos/acme/web/issues/7/comments",
            body: Some((JSON, json!({ "body": text }))),
            shows: Shows::Whole,
        },
        Good {
            tool: "remove_label",
            arguments: json!({ "repo": "web", "number": 7, "label": "needs-info" }),
            sent: "DELETE /repos/acme/web/issues/7/labels/needs-info",
            body: None,
            shows: Shows::Whole,
        },
        Good {
            tool: "review_pull_request",
            arguments: json!({ "repo": "web", "number": 8, "summary": "Close.", "file": "src/main.rs", "line": 12, "remark": text }),
            sent: "POST /repos/acme/web/pulls/8/reviews",
            body: Some((
                JSON,
                json!({
                    "event": "COMMENT",
                    "body": "Close.",
                    "comments": [{ "path": "src/main.rs", "line": 12, "side": "RIGHT", "body": text }],
                }),
            )),
            shows: Shows::Whole,
        },
        Good {
            tool: "propose_page",
            arguments: json!({ "page": "oncall.md", "message": "Add a page", "content": "SGVsbG8K", "topic": "oncall" }),
            sent: "PUT /repos/acme/handbook/contents/oncall.md",
            body: Some((
                JSON,
                json!({
                    "message": "Add a page",
                    "content": "SGVsbG8K",
                    "branch": "agent/oncall",
                    "committer": { "name": "triage-agent", "email": "triage-agent@acme.example" },
                }),
            )),
            shows: Shows::Whole,
        },
        Good {
            tool: "deploy",
            arguments: json!({ "repo": "web", "environment": "staging", "reason": "Fixes 7" }),
            sent: "POST /repos/acme/web/actions/workflows/deploy.yml/dispatches",
            body: Some((
                JSON,
                json!({ "ref": "main", "inputs": { "environment": "staging", "reason": "Fixes 7" } }),
            )),
            shows: Shows::Whole,
        },
    ]
}

fn wrong() -> Vec<Wrong> {
    vec![
        Wrong {
            tool: "list_issues",
            arguments: json!({ "repo": "web", "state": "merged" }),
            says: "`state`",
        },
        Wrong {
            tool: "list_issues",
            arguments: json!({ "repo": "web", "labels": "bug&state=all" }),
            says: "`labels`",
        },
        Wrong { tool: "get_issue", arguments: json!({ "repo": "web" }), says: "`number`" },
        Wrong { tool: "get_issue", arguments: json!({ "repo": "../other", "number": 7 }), says: "`repo`" },
        Wrong {
            tool: "create_issue",
            arguments: json!({ "repo": "web", "title": "a", "milestone": 1 }),
            says: "`milestone`",
        },
        Wrong {
            tool: "read_builds",
            arguments: json!({ "path": "/repos/acme/web/actions/secrets" }),
            says: "`path`",
        },
        Wrong {
            tool: "read_builds",
            arguments: json!({ "path": "/repos/other/web/actions/runs" }),
            says: "`path`",
        },
        Wrong {
            tool: "read_builds",
            arguments: json!({ "path": "/repos/acme/web/actions/runs", "method": "POST" }),
            says: "`method`",
        },
        Wrong {
            tool: "review_pull_request",
            arguments: json!({ "repo": "web", "number": 8, "event": "APPROVE", "summary": "a", "file": "a", "line": 1, "remark": "a" }),
            says: "`event`",
        },
        Wrong {
            tool: "propose_page",
            arguments: json!({ "page": "../.github/workflows/deploy.yml", "message": "a", "content": "", "topic": "a" }),
            says: "`page`",
        },
        Wrong {
            tool: "update_issue",
            arguments: json!({ "repo": "web", "number": 7, "state": "closed" }),
            says: "closing-needs-a-reason",
        },
        Wrong {
            tool: "deploy",
            arguments: json!({ "repo": "web", "environment": "production", "reason": "a" }),
            says: "deploy",
        },
    ]
}
