//! `examples/kubernetes.toml`, call by call.

use serde_json::json;

use crate::gateway::Credential;
use crate::world::{Api, Good, Rejected, Shows, Wrong, run};

const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";
const UID: &str = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";

#[test]
fn kubernetes() {
    run(&Api {
        name: "kubernetes",
        credential: Credential::File("kubernetes.token"),
        carried: ("authorization", |secret| format!("Bearer {secret}")),
        good: good(),
        wrong: wrong(),
        rejected: Rejected {
            edit: ("name = \"migrate\"\n", ""),
            tool: "run_migration",
            arguments: json!({ "namespace": "shop", "service": "web", "version": "1.2.3" }),
            status: 422,
            complaint: "must have required property 'name'",
        },
    });
}

fn good() -> Vec<Good> {
    let mut good = reads();
    good.extend(writes());
    good
}

fn reads() -> Vec<Good> {
    vec![
        Good {
            tool: "list_pods",
            arguments: json!({ "namespace": "shop", "labels": "app=web,tier=front", "continue": "eyJ2IjoibWV0YSJ9" }),
            sent: "GET /api/v1/namespaces/shop/pods?labelSelector=app%3Dweb%2Ctier%3Dfront&fieldSelector=status.phase%3DRunning&limit=20&continue=eyJ2IjoibWV0YSJ9",
            body: None,
            shows: Shows::Pages("next"),
        },
        Good {
            tool: "get_deployment",
            arguments: json!({ "namespace": "payments", "name": "ledger" }),
            sent: "GET /apis/apps/v1/namespaces/payments/deployments/ledger",
            body: None,
            shows: Shows::Parts(&[
                ("wanted", "/spec/replicas"),
                ("ready", "/status/readyReplicas"),
                ("image", "/spec/template/spec/containers/0/image"),
                ("conditions", "/status/conditions"),
            ]),
        },
        Good {
            tool: "read_log",
            arguments: json!({ "namespace": "shop", "pod": "web-5d9c", "container": "web", "previous": true }),
            sent: "GET /api/v1/namespaces/shop/pods/web-5d9c/log?container=web&tailLines=200&previous=true&limitBytes=524288",
            body: None,
            shows: Shows::Whole,
        },
        Good {
            tool: "look_up",
            arguments: json!({ "path": "/apis/events.k8s.io/v1/namespaces/shop/events", "query": { "limit": 5 } }),
            sent: "GET /apis/events.k8s.io/v1/namespaces/shop/events?limit=5",
            body: None,
            shows: Shows::Whole,
        },
        Good {
            tool: "look_up",
            arguments: json!({ "path": "/api/v1/namespaces/payments/services/ledger" }),
            sent: "GET /api/v1/namespaces/payments/services/ledger",
            body: None,
            shows: Shows::Whole,
        },
    ]
}

fn writes() -> Vec<Good> {
    let hardened = json!({ "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": { "drop": ["ALL"] } });
    let container = json!({
        "name": "migrate",
        "image": "registry.acme.example/orders:1.20.3",
        "args": ["migrate", "--to", "latest"],
        "securityContext": hardened,
        "resources": { "limits": { "cpu": "1", "memory": "512Mi" } },
    });
    let pod = json!({
        "restartPolicy": "Never",
        "automountServiceAccountToken": false,
        "securityContext": { "runAsNonRoot": true, "seccompProfile": { "type": "RuntimeDefault" } },
        "containers": [container],
    });
    let restarted = json!({ "kubectl.kubernetes.io/restartedAt": "2026-01-31T09:00:00Z" });
    vec![
        Good {
            tool: "scale_deployment",
            arguments: json!({ "namespace": "shop", "name": "web", "replicas": 3 }),
            sent: "PATCH /apis/apps/v1/namespaces/shop/deployments/web/scale?fieldManager=framegate",
            body: Some((MERGE, json!({ "spec": { "replicas": 3 } }))),
            shows: Shows::Whole,
        },
        Good {
            tool: "restart_deployment",
            arguments: json!({ "namespace": "payments", "name": "ledger", "now": "2026-01-31T09:00:00Z" }),
            sent: "PATCH /apis/apps/v1/namespaces/payments/deployments/ledger?fieldManager=framegate",
            body: Some((
                "application/strategic-merge-patch+json",
                json!({ "spec": { "template": { "metadata": { "annotations": restarted } } } }),
            )),
            shows: Shows::Whole,
        },
        Good {
            tool: "cordon_node",
            arguments: json!({ "node": "node-7.acme.example", "cordon": true, "dry_run": "All" }),
            sent: "PATCH /api/v1/nodes/node-7.acme.example?fieldManager=framegate&dryRun=All",
            body: Some((MERGE, json!({ "spec": { "unschedulable": true } }))),
            shows: Shows::Whole,
        },
        Good {
            tool: "run_migration",
            arguments: json!({ "namespace": "shop", "service": "orders", "version": "1.20.3" }),
            sent: "POST /apis/batch/v1/namespaces/shop/jobs?fieldManager=framegate&fieldValidation=Strict",
            body: Some((
                JSON,
                json!({
                    "apiVersion": "batch/v1",
                    "kind": "Job",
                    "metadata": {
                        "generateName": "migrate-orders-",
                        "labels": { "app": "orders", "acme.example/by": "oncall-agent" },
                    },
                    "spec": {
                        "backoffLimit": 0,
                        "ttlSecondsAfterFinished": 86400,
                        "activeDeadlineSeconds": 600,
                        "template": { "spec": pod },
                    },
                }),
            )),
            shows: Shows::Whole,
        },
        Good {
            tool: "evict_pod",
            arguments: json!({ "namespace": "payments", "pod": "ledger-0" }),
            sent: "POST /api/v1/namespaces/payments/pods/ledger-0/eviction",
            body: Some((
                JSON,
                json!({
                    "apiVersion": "policy/v1",
                    "kind": "Eviction",
                    "metadata": { "name": "ledger-0", "namespace": "payments" },
                    "deleteOptions": { "gracePeriodSeconds": 30 },
                }),
            )),
            shows: Shows::Whole,
        },
        Good {
            tool: "delete_pod",
            arguments: json!({ "namespace": "shop", "pod": "web-5d9c", "uid": UID }),
            sent: "DELETE /api/v1/namespaces/shop/pods/web-5d9c?propagationPolicy=Background",
            body: Some((
                JSON,
                json!({ "apiVersion": "v1", "kind": "DeleteOptions", "preconditions": { "uid": UID } }),
            )),
            shows: Shows::Whole,
        },
    ]
}

fn wrong() -> Vec<Wrong> {
    vec![
        Wrong { tool: "list_pods", arguments: json!({ "namespace": "kube-system" }), says: "`namespace`" },
        Wrong { tool: "list_pods", arguments: json!({ "namespace": "shop", "limit": 0 }), says: "`limit`" },
        Wrong { tool: "read_log", arguments: json!({ "namespace": "shop" }), says: "`pod`" },
        Wrong {
            tool: "read_log",
            arguments: json!({ "namespace": "shop", "pod": "web/../../secrets/x" }),
            says: "`pod`",
        },
        Wrong {
            tool: "look_up",
            arguments: json!({ "path": "/api/v1/namespaces/shop/secrets/database" }),
            says: "`path`",
        },
        Wrong {
            tool: "look_up",
            arguments: json!({ "path": "/api/v1/namespaces/shop/services/web/proxy/admin" }),
            says: "`path`",
        },
        Wrong {
            tool: "look_up",
            arguments: json!({ "path": "/api/v1/namespaces/shop/services/../secrets" }),
            says: "`path`",
        },
        Wrong {
            tool: "restart_deployment",
            arguments: json!({ "namespace": "shop", "name": "web", "now": "\"},\"image\":\"evil" }),
            says: "`now`",
        },
        Wrong {
            tool: "scale_deployment",
            arguments: json!({ "namespace": "shop", "name": "web", "replicas": 0 }),
            says: "`replicas`",
        },
        Wrong {
            tool: "scale_deployment",
            arguments: json!({ "namespace": "payments", "name": "ledger", "replicas": 2 }),
            says: "scale_deployment",
        },
        Wrong {
            tool: "cordon_node",
            arguments: json!({ "node": "node-7", "cordon": true }),
            says: "cordon_node",
        },
    ]
}
