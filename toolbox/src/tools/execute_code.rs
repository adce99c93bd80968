//! Runs Python in the sandbox.
//!
//! The one tool whose code can call others: what it asks of the host goes through the
//! trial's web and the toolbox's door, as calls of this call.

use std::sync::Arc;

use data_encoding::BASE64;
use futures::future::BoxFuture;
use http::Method;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;
use wildgym_sandbox::code::{Executed, Execution, Exit, HostCalls, Limits, RuntimeError};
use wildgym_sandbox::web::{Request, WebError};

use crate::door::Call;
use crate::error::ToolError;
use crate::footprint::Footprint;
use crate::tool::{CallContext, Category, Output, Tool};

/// Runs Python in the sandbox.
#[derive(Debug, Default)]
pub struct ExecuteCode;

/// Languages that can be run.
#[derive(Debug, Default, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Python 3.15.
    #[default]
    Python,
}

/// Arguments of [`ExecuteCode`].
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The program. The value of a last expression is shown, as in a notebook.
    code: String,
    /// The language of the program.
    #[serde(default, alias = "language")]
    code_type: Language,
}

impl Tool for ExecuteCode {
    const NAME: &'static str = "execute_code";
    const DESCRIPTION: &'static str = "Run a Python 3.15 program and return what it prints. \
        numpy 2.5, pandas 3.0, scipy, matplotlib, openpyxl, lxml and bs4 are installed; nothing \
        else can be. Each call is a fresh interpreter: variables are lost, files in the working \
        directory (the workspace) stay. There are no threads, processes or sockets; `fetch(url)`, \
        `requests` and `urllib.request` reach the task's web, and `from host import tools; \
        tools.call(name, **arguments)` calls another tool. A call may use 60 s of processor time \
        and 1 GiB of memory; long output is cut in the middle.";
    const CATEGORY: Category = Category::CodeExecution;
    const EXAMPLE: &'static str = r#"{"code": "print(6 * 7)"}"#;
    type Args = Args;

    fn footprint(&self, _: &Args) -> Footprint {
        // What it runs may call operations.
        Footprint::writes_workspace().and(Footprint::uses_world())
    }

    async fn call(&self, context: &Arc<CallContext>, args: Args) -> Result<Output, ToolError> {
        let Args { code, code_type: Language::Python } = args;
        let sandbox = &context.sandbox;
        let runtime = sandbox.host.code.as_ref().ok_or_else(|| {
            let missing = RuntimeError::Missing;
            ToolError::Unavailable(format!("{missing}; run `wildgym setup`"))
        })?;
        let workspace = sandbox.workspace.host_path();
        let workspace = workspace.map_err(|error| ToolError::SandboxLost(error.to_string()))?;
        let mut limits = Limits::default();
        limits.cpu = limits.cpu.min(context.limit);
        let execution = Execution {
            source: &code,
            workspace,
            quota: sandbox.workspace.quota(),
            scratch: sandbox.host.scratch.path(),
            now: context.now,
            seed: context.seed,
            limits,
            host: Arc::new(Bridge(Arc::clone(context))),
        };
        let slot = context.waiting(runtime.slot()).await?;
        let done = runtime.execute_in(slot, execution).await;
        Ok(text_of(&done?).into())
    }
}

/// Writes the result as the agent reads it.
fn text_of(done: &Executed) -> String {
    let mut text = done.stdout.clone();
    let mut add = |part: String| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&part);
    };
    if !done.stderr.is_empty() {
        add(format!("[stderr]\n{}", done.stderr));
    }
    match &done.exit {
        Exit::Status(0) => {}
        Exit::Status(status) => add(format!("[exit status {status}]")),
        Exit::Limit(limit) => add(format!("[stopped: the program used up its {limit}]")),
        Exit::Crash(reason) => add(format!("[crashed: {reason}]")),
    }
    if text.is_empty() { "[the program printed nothing]".to_owned() } else { text }
}

/// Answers what executed code asks of the host.
struct Bridge(Arc<CallContext>);

/// A request as `fetch` of the prelude sends it.
#[derive(Deserialize)]
struct Fetch {
    url: String,
    method: String,
    headers: Vec<(String, String)>,
    /// Base64.
    body: String,
}

/// A call of another tool.
#[derive(Deserialize)]
struct Child {
    name: String,
    arguments: Value,
}

impl Bridge {
    async fn fetch(&self, arguments: Value) -> Result<Value, String> {
        let fetch: Fetch = serde_json::from_value(arguments).map_err(|error| error.to_string())?;
        let context = &self.0;
        let web = context.sandbox.web.as_ref().ok_or_else(|| WebError::NoWeb.to_string())?;
        let request = request_of(fetch)?;
        let reply = web.send(request, context.now, &context.accesses).await;
        let reply = reply.map_err(|error| error.to_string())?;
        Ok(json!({
            "status": reply.status,
            "url": reply.url.as_str(),
            "headers": reply.headers,
            "body": BASE64.encode(&reply.body),
        }))
    }

    async fn child(&self, arguments: Value) -> Result<Value, String> {
        let Child { name, arguments } =
            serde_json::from_value(arguments).map_err(|error| error.to_string())?;
        let call = Call { id: String::new(), name, arguments: arguments.to_string() };
        let answered = self.0.call(call).await.map_err(|lost| lost.to_string())?;
        answered.map(Value::String)
    }
}

fn request_of(fetch: Fetch) -> Result<Request, String> {
    let bad = |reason: String| WebError::BadUrl { url: fetch.url.clone(), reason }.to_string();
    let url: Url = fetch.url.parse().map_err(|error: url::ParseError| bad(error.to_string()))?;
    let method = Method::from_bytes(fetch.method.as_bytes());
    let method = method.map_err(|_| format!("`{}` is no method", fetch.method))?;
    let body = BASE64.decode(fetch.body.as_bytes());
    let body = body.map_err(|error| format!("the body is not base64: {error}"))?.into();
    let headers = fetch.headers.into_iter();
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
    Ok(Request { method, url, headers, body })
}

impl HostCalls for Bridge {
    fn call(&self, name: String, arguments: Value) -> BoxFuture<'_, Result<Value, String>> {
        Box::pin(async move {
            match name.as_str() {
                "fetch" => self.fetch(arguments).await,
                "tool" => self.child(arguments).await,
                _ => Err(format!("there is no call `{name}`")),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_say_how_the_program_ended() {
        let limit = Exit::Limit("60 s of processor time".to_owned());
        let table = [
            ("1\n", "", Exit::Status(0), "1\n", "plain output stays as it is"),
            ("", "", Exit::Status(0), "[the program printed nothing]", "silence is told"),
            ("a", "b\n", Exit::Status(1), "a\n[stderr]\nb\n[exit status 1]", "an error"),
            ("", "", limit, "[stopped: the program used up its 60 s of processor time]", "limit"),
            ("", "", Exit::Crash("no".to_owned()), "[crashed: no]", "crash"),
        ];
        for (stdout, stderr, exit, want, why) in table {
            let (stdout, stderr) = (stdout.to_owned(), stderr.to_owned());
            let text = text_of(&Executed { stdout, stderr, dropped: (0, 0), exit });
            assert_eq!(text, want, "{why}");
        }
    }

    #[test]
    fn unknown_languages_and_fields_are_refused() {
        for (arguments, fits) in [
            (json!({ "code": "1" }), true),
            (json!({ "code": "1", "language": "python" }), true),
            (json!({ "code": "1", "code_type": "python" }), true),
            (json!({ "code": "1", "code_type": "ruby" }), false),
            (json!({ "code": "1", "timeout": 5 }), false),
            (json!({}), false),
        ] {
            assert_eq!(
                serde_json::from_value::<Args>(arguments.clone()).is_ok(),
                fits,
                "{arguments}"
            );
        }
    }

    #[test]
    fn requests_are_read_as_sent() {
        let fetch = |url: &str, method: &str, body: &str| Fetch {
            url: url.to_owned(),
            method: method.to_owned(),
            headers: vec![("X-A".to_owned(), "1".to_owned())],
            body: body.to_owned(),
        };
        let request = request_of(fetch("https://port.example/", "POST", "YQ==")).unwrap();
        assert_eq!(request.headers, [("x-a".to_owned(), "1".to_owned())]);
        assert_eq!((request.method, &request.body[..]), (Method::POST, &b"a"[..]));
        for (bad, reason) in [
            (fetch("no url", "GET", ""), "cannot be fetched"),
            (fetch("https://port.example/", "G T", ""), "is no method"),
            (fetch("https://port.example/", "GET", "?"), "not base64"),
        ] {
            assert!(request_of(bad).unwrap_err().contains(reason), "{reason}");
        }
    }
}
