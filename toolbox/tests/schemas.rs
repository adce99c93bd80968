//! What models are told of each tool, whole: a change here changes scores, and shows.

use wildgym_toolbox::{Catalog, schema};

#[test]
fn schemas_are_as_models_know_them() {
    for entry in Catalog::all().unwrap().iter() {
        insta::assert_json_snapshot!(entry.tool.name(), schema::openai(entry));
    }
}

/// One definition, two schemas: both name the same tool and take the same arguments,
/// and the example fits them.
#[test]
fn both_forms_say_the_same_and_the_example_fits() {
    let catalog = Catalog::all().unwrap();
    for entry in catalog.iter() {
        let (openai, mcp) = (schema::openai(entry), schema::mcp(entry));
        assert_eq!(openai["function"]["name"], mcp["name"]);
        assert_eq!(openai["function"]["description"], mcp["description"]);
        assert_eq!(openai["function"]["parameters"], mcp["inputSchema"]);
        let prepared = std::sync::Arc::clone(&entry.tool).prepare(entry.tool.example());
        assert!(prepared.is_ok(), "{}: its example does not fit", entry.tool.name());
    }
}

#[test]
fn names_are_unique_and_plain() {
    let catalog = Catalog::all().unwrap();
    let names: Vec<&str> = catalog.iter().map(|entry| entry.tool.name()).collect();
    let distinct: std::collections::BTreeSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len());
    assert!(names.iter().all(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')));
}
