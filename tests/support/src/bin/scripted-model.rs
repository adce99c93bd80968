//! The scripted model as a program of its own, for tests that kill the gym.
//!
//! ```text
//! scripted-model [--port N] [--wait-ms N] [--rounds N] [--tool NAME --arguments JSON]
//!                [--act ACTION]… [--hear TEXT] [--log FILE]
//! ```
//!
//! Prints its base URL, then answers until it is killed: every round but the last with
//! a call of the named tool, else of one that is offered; the last (the second, unless
//! `--rounds` says another) with a final answer. Asked by a tool, it does
//! the acts in turn, see `wildgym_support::navigator`. Sounds are written down as the text of
//! `--hear`. Each request appends a line of JSON to the log before it is
//! answered: `n`, `trial` (the header `x-wildgym-trial`, or null), `key` (the start of
//! the first message of the user), `round`, `violations`.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::time::Duration;

use serde_json::{Value, json};
use wildgym_support::{
    Request, Response, ScriptedServer, calls, final_answer, form, heard, navigates, protocol, says,
};

struct Arguments {
    port: u16,
    wait: Duration,
    rounds: usize,
    tool: Option<String>,
    input: Value,
    acts: Vec<String>,
    hear: String,
    log: Option<File>,
}

fn arguments() -> Result<Arguments, String> {
    let mut read = Arguments {
        port: 0,
        wait: Duration::ZERO,
        rounds: 2,
        tool: None,
        input: json!({}),
        acts: Vec::new(),
        hear: String::new(),
        log: None,
    };
    let mut given = std::env::args().skip(1);
    while let Some(name) = given.next() {
        let value = given.next().ok_or_else(|| format!("`{name}` needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("`{value}` is not a number"));
        match name.as_str() {
            "--port" => read.port = value.parse().map_err(|_| format!("`{value}` is no port"))?,
            "--wait-ms" => read.wait = Duration::from_millis(number()?),
            "--rounds" => read.rounds = usize::try_from(number()?).unwrap_or(usize::MAX),
            "--tool" => read.tool = Some(value),
            "--act" => read.acts.push(value),
            "--hear" => read.hear = value,
            "--arguments" => {
                read.input = serde_json::from_str(&value)
                    .map_err(|error| format!("`{value}` is no JSON: {error}"))?;
            }
            "--log" => {
                let file = OpenOptions::new().create(true).append(true).open(&value);
                read.log = Some(file.map_err(|error| format!("cannot open `{value}`: {error}"))?);
            }
            _ => return Err(format!("unknown argument `{name}`")),
        }
    }
    Ok(read)
}

fn script(request: &Request, rounds: usize, call: Option<&(String, Value)>) -> Response {
    if request.round >= rounds {
        return final_answer("42");
    }
    let id = format!("call{:04}", request.round);
    if let Some((name, arguments)) = call {
        return calls([(&id, name, arguments.clone())]);
    }
    let known = [
        ("execute_code", json!({ "code": "print(6 * 7)" })),
        ("search_wiki", json!({ "entity": "river" })),
        ("search_serper", json!({ "query": "river" })),
    ];
    let offered = known.into_iter().find(|(name, _)| request.tools().any(|tool| tool == *name));
    match offered {
        Some((name, arguments)) => calls([(&id, name, arguments)]),
        None => match request.tools().next() {
            Some(first) => calls([(&id, first, json!({}))]),
            None => says("no tool was offered"),
        },
    }
}

fn line(request: &Request) -> Value {
    json!({
        "n": request.number,
        "trial": request.headers.get("x-wildgym-trial"),
        "key": request.key.chars().take(200).collect::<String>(),
        "round": request.round,
        "violations": if request.route == "audio/transcriptions" {
            form::violations(&request.body)
        } else {
            protocol::violations(&request.body)
        },
    })
}

#[tokio::main]
async fn main() -> Result<(), String> {
    let Arguments { port, wait, rounds, tool, input, acts, hear, log } = arguments()?;
    let call = tool.map(|tool| (tool, input));
    let answer = move |request: &Request| {
        if let Some(mut log) = log.as_ref() {
            // One write per line, so lines never mix; a full disk must not pass unseen.
            let written = log.write_all(format!("{}\n", line(request)).as_bytes());
            if let Err(error) = written {
                return wildgym_support::raw(format!("the log: {error}")).with_status(500);
            }
        }
        if request.route == "audio/transcriptions" {
            return heard([(0.0, 1.0, hear.as_str())]).after(wait);
        }
        let role = request.headers.get("x-wildgym-role");
        if role.is_some_and(|role| role.starts_with("browse_url")) {
            let acts: Vec<&str> = acts.iter().map(String::as_str).collect();
            return navigates(request, &acts).after(wait);
        }
        script(request, rounds, call.as_ref()).after(wait)
    };
    let server = ScriptedServer::serve(port, false, answer)
        .await
        .map_err(|error| format!("cannot listen on port {port}: {error}"))?;
    let address = format!("{}\n", server.base_url());
    let mut output = std::io::stdout();
    output
        .write_all(address.as_bytes())
        .and_then(|()| output.flush())
        .map_err(|error| error.to_string())?;
    server.forever().await;
    Ok(())
}
