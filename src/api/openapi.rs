//! The `OpenAPI` document, made of the routes and their types.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::Role;
use super::problem::Refused;
use super::routes::{self, Route};

/// Returns the document of the routes below `/v1`, version 3.0 of the format.
#[must_use]
pub fn document() -> Value {
    let mut generator = SchemaSettings::openapi3().into_generator();
    let refused = generator.subschema_for::<Refused>();
    let mut paths: Map<String, Value> = Map::new();
    for route in routes::all() {
        let (asked, answered) = (route.schemas)(&mut generator);
        let operation =
            operation(&route, asked.map(Into::into), answered.into(), &refused.clone().into());
        let methods = paths.entry(route.path).or_insert_with(|| json!({}));
        methods[route.method.name()] = operation;
    }
    json!({
        "openapi": "3.0.3",
        "info": {
            "title": "wildgym",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Episodes of a suite's tasks, for trainers. A step is a round: one or \
                several calls at once, or the final answer. Errors are JSON with a code.",
        },
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {
                "trainer": {
                    "type": "http", "scheme": "bearer",
                    "description": "The trainer's token: everything.",
                },
                "agent": {
                    "type": "http", "scheme": "bearer",
                    "description": "The agent's token: observe and step.",
                },
            },
        },
    })
}

fn operation(route: &Route, asked: Option<Value>, answered: Value, refused: &Value) -> Value {
    let content = |schema: &Value| json!({ "application/json": { "schema": schema } });
    let security = match route.role {
        Role::Anybody => json!([]),
        Role::Agent => json!([{ "trainer": [] }, { "agent": [] }]),
        Role::Trainer => json!([{ "trainer": [] }]),
    };
    let mut operation = json!({
        "operationId": route.name,
        "summary": route.summary,
        "security": security,
        "responses": {
            "200": { "description": "Done", "content": content(&answered) },
            "4XX": { "description": "Refused; the client has to act", "content": content(refused) },
            "503": {
                "description": "Not now; come again after `Retry-After` seconds",
                "headers": { "Retry-After": { "schema": { "type": "integer" } } },
                "content": content(refused),
            },
        },
    });
    if route.path.contains("{id}") {
        operation["parameters"] = json!([{
            "name": "id", "in": "path", "required": true, "schema": { "type": "string" },
        }]);
    }
    if let Some(asked) = asked {
        operation["requestBody"] = json!({ "required": true, "content": content(&asked) });
    }
    operation
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Every reference leads somewhere, every operation has a name of its own, and every type
    /// that is named is described.
    #[test]
    fn the_document_holds_together() {
        let document = document();
        let text = document.to_string();
        let schemas = document["components"]["schemas"].as_object().unwrap();
        for part in text.split("#/components/schemas/").skip(1) {
            let name: String = part.chars().take_while(|c| *c != '"').collect();
            assert!(schemas.contains_key(&name), "`{name}` is described nowhere");
        }
        let operations = document["paths"].as_object().unwrap().values();
        let operations = operations.flat_map(|path| path.as_object().unwrap().values());
        let names: Vec<&str> = operations.map(|one| one["operationId"].as_str().unwrap()).collect();
        assert_eq!(names.len(), routes::all().len());
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
        for name in ["Observation", "Step", "Evaluation", "Parts", "Refused"] {
            assert!(schemas.contains_key(name), "`{name}`");
        }
        let said = &schemas["Step"]["properties"]["calls"]["description"];
        assert!(said.as_str().is_some_and(|said| said.contains("at once")), "{said}");
    }
}
