//! The scripted model as a program, met at its socket.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

/// A program that is ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn post(address: &str, trial: &str, body: &Value) -> Value {
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).expect("it listens");
    write!(
        stream,
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/json\r\nx-wildgym-trial: {trial}\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let (_, body) = answer.split_once("\r\n\r\n").expect("an answer has a body");
    serde_json::from_str(body).expect("the body is JSON")
}

#[test]
fn it_prints_its_address_answers_by_round_and_logs_each_request() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    let mut program = Command::new(env!("CARGO_BIN_EXE_scripted-model"));
    program.args(["--rounds", "2", "--wait-ms", "1", "--log"]).arg(&log).stdout(Stdio::piped());
    let mut running = Running(program.spawn().unwrap());
    let mut line = String::new();
    BufReader::new(running.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("http://").unwrap().strip_suffix("/v1").unwrap();

    let parameters = json!({ "type": "object", "properties": {} });
    let tool = json!({ "name": "execute_code", "description": "d", "parameters": parameters });
    let user = json!({ "role": "user", "content": "the task" });
    let mut body = json!({ "model": "m", "messages": [user] });
    body["tools"] = json!([{ "type": "function", "function": tool }]);
    let first = post(address, "c/t/v/1", &body);
    let call = &first["choices"][0]["message"]["tool_calls"][0];
    assert_eq!(call["function"]["name"], "execute_code");
    let asked = json!({ "role": "assistant", "content": "", "tool_calls": [call] });
    let result = json!({ "role": "tool", "tool_call_id": call["id"], "content": "42" });
    body["messages"] = json!([user, asked, result]);
    let second = post(address, "c/t/v/1", &body);
    let answer = &second["choices"][0]["message"]["content"];
    assert_eq!(answer, "<final_answer>42</final_answer>");

    let logged = std::fs::read_to_string(log).unwrap();
    let logged: Vec<Value> = logged.lines().map(|line| line.parse().unwrap()).collect();
    let entry = |number: u32| json!({ "n": number, "trial": "c/t/v/1", "key": "the task", "round": number, "violations": [] });
    assert_eq!(logged, [entry(1), entry(2)]);
}
