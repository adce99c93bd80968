//! The dialect of `AgentGym`'s environments: what its clients send, and what they rely on.

use serde_json::{Value, json};

use super::server::{Server, TASK};

/// Sends what a client of `AgentGym` sends: no header, the token in the address.
async fn post(server: &Server, route: &str, body: Value) -> Value {
    let path = format!("/agentgym/{}/{route}", server.token);
    let answer = server.send(("POST", &path), None, body.to_string().into_bytes()).await;
    assert_eq!(answer.status, 200, "its clients insist on it: {}", answer.body);
    answer.body
}

async fn get(server: &Server, route: &str) -> Value {
    let path = format!("/agentgym/{}/{route}", server.token);
    let answer = server.send(("GET", &path), None, Vec::new()).await;
    assert_eq!(answer.status, 200, "its clients insist on it: {}", answer.body);
    answer.body
}

/// The form with `id`, as its guide recommends and `textcraft` speaks it.
#[tokio::test]
async fn the_form_with_id() {
    let server = Server::start(&["--tasks", "t1-00*", "--agentgym-compat"]);
    assert!(get(&server, "").await.as_str().unwrap().contains("environment"));
    let made = post(&server, "create", json!({ "commands": null, "goal": null })).await;
    assert_eq!(made["id"], 0);
    assert_eq!((&made["reward"], &made["done"]), (&json!(0), &json!(false)));
    let told = made["observation"].as_str().unwrap();
    assert!(told.contains("Priya Raman") && told.contains("crm_search_contacts {"), "{told}");
    let reset = post(&server, "reset", json!({ "id": 0, "data_idx": 0 })).await;
    assert_eq!((&reset["id"], &reset["observation"]), (&json!(0), &made["observation"]));
    let action = "Thought: look.\n\nAction: crm_search_contacts {\"query\": \"Priya Raman\"}";
    let seen = post(&server, "step", json!({ "id": 0, "action": action })).await;
    assert!(seen["observation"].as_str().unwrap().contains("priya.raman@"), "{seen}");
    assert_eq!((&seen["reward"], &seen["done"]), (&json!(0.0), &json!(false)));
    let seen = post(&server, "step", json!({ "id": 0, "action": "I wonder." })).await;
    assert!(seen["observation"].as_str().unwrap().contains("no action"), "{seen}");
    let answer =
        "<final_answer>Priya Raman: priya.raman@acme-corp.example, +1 614 5550121.</final_answer>";
    let seen = post(&server, "step", json!({ "id": 0, "action": answer })).await;
    assert_eq!((&seen["reward"], &seen["done"]), (&json!(1.0), &json!(true)), "{seen}");
    assert_eq!(get(&server, "observation?id=0").await, seen["observation"]);
    assert_eq!(get(&server, "detail?id=0").await["reward"], 1.0);
    // What is wrong is told in band.
    let table = [
        (json!({ "id": 0, "action": "more" }), "over", "after the end"),
        (json!({ "id": 7, "action": "x" }), "The id 7 is not valid.", "a number that never was"),
    ];
    for (body, want, why) in table {
        let said = post(&server, "step", body).await;
        assert!(said["error"].as_str().unwrap().contains(want), "{why}: {said}");
    }
    let said = post(&server, "reset", json!({ "id": 0, "data_idx": 99 })).await;
    assert!(said["error"].as_str().unwrap().contains("no task 99"), "{said}");
    let said = post(&server, "reset", json!({ "id": 0, "data_idx": -1 })).await;
    assert!(said["error"].as_str().unwrap().contains("no task -1"), "{said}");
    assert_eq!(post(&server, "close", json!({ "id": 0 })).await, json!({ "closed": true }));
    let said = post(&server, "step", json!({ "id": 0, "action": "x" })).await;
    assert_eq!(said["error"], "The task with environment 0 has been deleted.");
}

/// The form with `env_idx`: a bare number, a bare text.
#[tokio::test]
async fn the_form_with_env_idx() {
    let server = Server::start(&["--tasks", "t1-00*", "--agentgym-compat"]);
    assert_eq!(post(&server, "create", json!({ "id": 0 })).await, json!(0));
    assert_eq!(post(&server, "create", json!({ "id": 0 })).await, json!(1));
    assert_eq!(get(&server, "list_envs").await, json!([0, 1]));
    let told = post(&server, "reset", json!({ "env_idx": 1, "id": 1 })).await;
    assert!(told.is_string(), "{told}");
    assert_eq!(get(&server, "observation?env_idx=1").await, told);
    let action = "Action: crm_search_contacts with Action Input: {\"query\": \"Raman\"}";
    let seen = post(&server, "step", json!({ "env_idx": 1, "action": action })).await;
    let fields: Vec<&String> = seen.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["observation", "reward", "done"]);
    let action = "Action: finish with Action Input: {\"answer\": \"no\"}";
    let seen = post(&server, "step", json!({ "env_idx": 1, "action": action })).await;
    assert_eq!((&seen["reward"], &seen["done"]), (&json!(0.0), &json!(true)));
}

/// Without the token nothing is told, and the native routes are there all the same.
#[tokio::test]
async fn the_token_is_needed_and_both_are_spoken() {
    let server = Server::start(&["--tasks", "t1-00*", "--agentgym-compat"]);
    let at = |token: &str| format!("/agentgym/{token}/create");
    let table = [
        (at("0000000000000000"), None, 401, "a wrong token"),
        (at(&server.agent), None, 403, "rewards are the trainer's"),
        ("/create".to_owned(), None, 401, "no token"),
        ("/create".to_owned(), Some(server.token.as_str()), 200, "in the header"),
    ];
    for (path, token, status, why) in table {
        let got = server.send(("POST", &path), token, b"{}".to_vec()).await;
        assert_eq!(got.status, status, "{why}: {}", got.body);
    }
    assert_eq!(server.open(TASK, 1, None).await.len(), 1);
}
