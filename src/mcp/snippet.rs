//! What to write into the configuration of common clients.

use serde_json::{Value, json};

/// A client, or a group of clients that share a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// Claude Desktop and whatever else reads `mcpServers`: Windsurf, Cline, Qwen Code.
    ClaudeDesktop,
    /// Cursor: `.cursor/mcp.json`.
    Cursor,
    /// Visual Studio Code: `.vscode/mcp.json`.
    VsCode,
    /// Codex: `~/.codex/config.toml`.
    Codex,
    /// The `OpenAI` Agents SDK, in Python.
    OpenaiAgents,
    /// The official Python SDK.
    Python,
    /// The official TypeScript SDK.
    Typescript,
}

/// How a sandbox is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// A command whose standard input and output are the connection.
    Command(Vec<String>),
    /// An address.
    Url(String),
}

/// Returns where a client's snippet belongs, where that is a file of JSON, which can say nothing
/// of itself.
#[must_use]
pub fn file(client: Client) -> Option<&'static str> {
    match client {
        Client::ClaudeDesktop => {
            Some("claude_desktop_config.json, or any client that reads `mcpServers`")
        }
        Client::Cursor => Some(".cursor/mcp.json"),
        Client::VsCode => Some(".vscode/mcp.json"),
        Client::Codex | Client::OpenaiAgents | Client::Python | Client::Typescript => None,
    }
}

/// Returns what to write.
#[must_use]
pub fn snippet(client: Client, reach: &Reach) -> String {
    match client {
        Client::ClaudeDesktop | Client::Cursor => pretty(&servers("mcpServers", reach, false)),
        Client::VsCode => pretty(&servers("servers", reach, true)),
        Client::Codex => format!("# ~/.codex/config.toml\n[mcp_servers.wildgym]\n{}", toml(reach)),
        Client::OpenaiAgents => openai_agents(reach),
        Client::Python => python(reach),
        Client::Typescript => typescript(reach),
    }
}

/// Splits a command into its program and its arguments.
fn split(command: &[String]) -> (&str, &[String]) {
    command.split_first().map_or(("wildgym", &[]), |(program, rest)| (program.as_str(), rest))
}

fn servers(key: &str, reach: &Reach, typed: bool) -> Value {
    let mut server = match reach {
        Reach::Command(command) => {
            let (program, arguments) = split(command);
            json!({ "command": program, "args": arguments })
        }
        Reach::Url(url) => json!({ "url": url }),
    };
    if typed {
        let kind = match reach {
            Reach::Command(_) => "stdio",
            Reach::Url(_) => "http",
        };
        server["type"] = kind.into();
    }
    json!({ key: { "wildgym": server } })
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

/// JSON texts and lists of texts are TOML and Python as well.
fn literal(value: impl Into<Value>) -> String {
    value.into().to_string()
}

fn list(values: &[String]) -> String {
    literal(values.to_vec())
}

fn toml(reach: &Reach) -> String {
    match reach {
        Reach::Command(command) => {
            let (program, arguments) = split(command);
            format!("command = {}\nargs = {}", literal(program), list(arguments))
        }
        Reach::Url(url) => format!("url = {}", literal(url.as_str())),
    }
}

fn openai_agents(reach: &Reach) -> String {
    let (class, params) = match reach {
        Reach::Command(command) => {
            let (program, arguments) = split(command);
            let params =
                format!("{{\"command\": {}, \"args\": {}}}", literal(program), list(arguments));
            ("MCPServerStdio", params)
        }
        Reach::Url(url) => {
            ("MCPServerStreamableHttp", format!("{{\"url\": {}}}", literal(url.as_str())))
        }
    };
    format!(
        "# pip install openai-agents
import asyncio
from agents import Agent, Runner
from agents.mcp import {class}

async def main():
    params = {params}
    async with {class}(params=params, client_session_timeout_seconds=300) as gym:
        agent = Agent(name=\"agent\", mcp_servers=[gym],
                      instructions=\"Call get_task, do it, end with submit_answer.\")
        await Runner.run(agent, \"Begin.\", max_turns=100)

asyncio.run(main())"
    )
}

fn python(reach: &Reach) -> String {
    let (import, place) = match reach {
        Reach::Command(command) => {
            let (program, arguments) = split(command);
            let (program, arguments) = (literal(program), list(arguments));
            let server = format!("StdioServerParameters(command={program}, args={arguments})");
            ("from mcp import Client, StdioServerParameters", server)
        }
        Reach::Url(url) => ("from mcp import Client", literal(url.as_str())),
    };
    format!(
        "# pip install 'mcp>=2'
import asyncio
{import}

async def main():
    async with Client({place}) as gym:
        print(await gym.call_tool(\"get_task\", {{}}))

asyncio.run(main())"
    )
}

fn typescript(reach: &Reach) -> String {
    let (import, transport) = match reach {
        Reach::Command(command) => {
            let (program, arguments) = split(command);
            let options = format!("{{ command: {}, args: {} }}", literal(program), list(arguments));
            (
                "import { StdioClientTransport } from \"@modelcontextprotocol/sdk/client/stdio.js\";",
                format!("new StdioClientTransport({options})"),
            )
        }
        Reach::Url(url) => (
            "import { StreamableHTTPClientTransport } from \"@modelcontextprotocol/sdk/client/streamableHttp.js\";",
            format!("new StreamableHTTPClientTransport(new URL({}))", literal(url.as_str())),
        ),
    };
    format!(
        "// npm install @modelcontextprotocol/sdk
import {{ Client }} from \"@modelcontextprotocol/sdk/client/index.js\";
{import}

const gym = new Client({{ name: \"agent\", version: \"1\" }});
await gym.connect({transport});
console.log(await gym.callTool({{ name: \"get_task\", arguments: {{}} }}));"
    )
}
