//! What the conformance suite wants of a server: tools of every kind of content, served as
//! the gym serves a sandbox.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
#[expect(deprecated, reason = "the suite still asks for it")]
use rmcp::model::{CreateMessageRequestParams, SamplingMessage};
use rmcp::model::{ElicitRequestParams, Request, ResourceContents, ServerRequest};
use serde_json::{Value, json};
use wildgym::mcp::{Asked, CallToolResult, ContentBlock, Served, Tool};

/// A red dot, and a moment of silence.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";

/// Serves the tools that the suite calls.
pub(crate) struct Fixture;

impl Served for Fixture {
    fn instructions(&self) -> String {
        "Tools for a conformance suite.".to_owned()
    }

    fn tools(&self) -> Vec<Tool> {
        let plain = [
            "test_simple_text",
            "test_image_content",
            "test_audio_content",
            "test_embedded_resource",
            "test_multiple_content_types",
            "test_error_handling",
            "test_tool_with_progress",
            "test_reconnection",
        ];
        let empty = json!({ "type": "object", "properties": {} });
        let text = |field: &str| {
            json!({ "type": "object", "properties": { field: { "type": "string" } },
                    "required": [field] })
        };
        let mut tools: Vec<Tool> = plain.iter().map(|name| tool(name, &empty)).collect();
        tools.push(tool("test_sampling", &text("prompt")));
        tools.push(tool("test_elicitation", &text("message")));
        tools.push(tool(
            "json_schema_2020_12_tool",
            &json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "$defs": { "address": { "type": "object", "properties": {
                    "street": { "type": "string" }, "city": { "type": "string" } } } },
                "properties": { "name": { "type": "string" },
                                "address": { "$ref": "#/$defs/address" } },
                "additionalProperties": false,
            }),
        ));
        tools
    }

    fn call(self: Arc<Self>, asked: Asked) -> BoxFuture<'static, CallToolResult> {
        Box::pin(async move {
            match asked.name.as_str() {
                "test_image_content" => said(vec![ContentBlock::image(PNG, "image/png")]),
                "test_audio_content" => said(vec![ContentBlock::audio(WAV, "audio/wav")]),
                "test_embedded_resource" => said(vec![resource()]),
                "test_multiple_content_types" => said(vec![
                    ContentBlock::text("Several kinds."),
                    ContentBlock::image(PNG, "image/png"),
                    resource(),
                ]),
                "test_error_handling" => {
                    CallToolResult::error(vec![ContentBlock::text("This tool fails.")])
                }
                "test_tool_with_progress" => {
                    for step in 0..=2 {
                        let done = f64::from(step) * 50.0;
                        asked.tell.progress(done, Some(100.0), "working").await;
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                    said(vec![ContentBlock::text("Done.")])
                }
                "test_sampling" => sample(&asked).await,
                "test_elicitation" => elicit(&asked).await,
                _ => said(vec![ContentBlock::text("A simple text.")]),
            }
        })
    }
}

fn tool(name: &str, schema: &Value) -> Tool {
    Tool::new(name.to_owned(), "For a conformance suite.", schema.as_object().unwrap().clone())
}

fn said(content: Vec<ContentBlock>) -> CallToolResult {
    CallToolResult::success(content)
}

fn resource() -> ContentBlock {
    ContentBlock::resource(ResourceContents::text("A resource.", "test://embedded-resource"))
}

/// Asks the client's model: requests of a server travel on the stream of the call.
async fn sample(asked: &Asked) -> CallToolResult {
    let prompt = asked.arguments["prompt"].as_str().unwrap();
    #[expect(deprecated, reason = "the suite still asks for it")]
    let params = CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], 100);
    #[expect(deprecated, reason = "the suite still asks for it")]
    let replied = asked.tell.peer().create_message(params).await;
    said(vec![ContentBlock::text(format!("LLM response: {:?}", replied.unwrap()))])
}

/// Asks the client's user.
async fn elicit(asked: &Asked) -> CallToolResult {
    let params: ElicitRequestParams = serde_json::from_value(json!({
        "mode": "form", "message": asked.arguments["message"],
        "requestedSchema": { "type": "object", "properties": {
            "username": { "type": "string", "description": "User's response" },
            "email": { "type": "string", "description": "User's email address" } },
            "required": ["username", "email"] },
    }))
    .unwrap();
    let request = ServerRequest::ElicitRequest(Request::new(params));
    let replied = asked.tell.peer().send_request(request).await;
    said(vec![ContentBlock::text(format!("User response: {:?}", replied.unwrap()))])
}
