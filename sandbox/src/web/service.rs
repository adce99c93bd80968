//! JSON services of sites: rows of a table, chosen by query parameters.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use url::Url;
use wildgym_tasks::environment::Service;

use super::Request;
use super::reply::Reply;

/// Name of the parameter that turns pages.
const PAGE: &str = "page";

/// A service with its rows read.
#[derive(Debug)]
pub(super) struct JsonService {
    definition: Service,
    rows: Vec<Map<String, Value>>,
}

impl JsonService {
    /// Reads the rows; the error says what is wrong with the table.
    pub(super) fn new(definition: Service, table: &[u8]) -> Result<Self, String> {
        let rows = serde_json::from_slice(table)
            .map_err(|error| format!("expected a JSON array of objects: {error}"))?;
        if let Some(header) = &definition.require_header
            && !header.contains(':')
        {
            return Err(format!("`require_header` is `{header}`; expected `name: value`"));
        }
        if definition.page_size == Some(0) {
            return Err("`page_size` is 0; expected at least 1".to_owned());
        }
        Ok(Self { definition, rows })
    }

    /// Answers a request for the service's path.
    pub(super) fn answer(&self, request: &Request) -> Reply {
        if !matches!(request.method, http::Method::GET | http::Method::HEAD) {
            let error = format!("`{}` is not answered here; use `GET`", request.method);
            return failure(405, &error).with("allow", "GET, HEAD");
        }
        if let Some(reply) = self.refuse_stranger(request) {
            return reply;
        }
        match self.parameters(&request.url) {
            Ok(parameters) => self.rows(&parameters),
            Err(error) => failure(400, &error),
        }
    }

    /// Returns the refusal for a request without the header that the service asks for.
    /// It names the header and keeps the value to itself.
    fn refuse_stranger(&self, request: &Request) -> Option<Reply> {
        let (name, value) = self.definition.require_header.as_ref()?.split_once(':')?;
        let (name, value) = (name.trim(), value.trim());
        let given = request.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        match given {
            Some((_, given)) if given.trim() == value => None,
            Some(_) => Some(failure(401, &format!("the header `{name}` has a wrong value"))),
            None => Some(failure(401, &format!("the header `{name}` is missing"))),
        }
    }

    /// Reads the query and checks it against the definition.
    fn parameters(&self, url: &Url) -> Result<BTreeMap<String, String>, String> {
        let definition = &self.definition;
        let pages = definition.page_size.map(|_| PAGE.to_owned());
        let known: Vec<&String> =
            definition.required.iter().chain(&definition.optional).chain(&pages).collect();
        let mut parameters = BTreeMap::new();
        for (name, value) in url.query_pairs() {
            if !known.iter().any(|known| **known == name) {
                let known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
                let hint = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(format!("unknown parameter `{name}`; known: {hint}"));
            }
            if parameters.insert(name.clone().into_owned(), value.into_owned()).is_some() {
                return Err(format!("parameter `{name}` is given more than once"));
            }
        }
        for name in &definition.required {
            if !parameters.contains_key(name) {
                return Err(format!("missing required parameter `{name}`"));
            }
        }
        Ok(parameters)
    }

    /// Returns the rows that fit, or one page of them.
    fn rows(&self, parameters: &BTreeMap<String, String>) -> Reply {
        let turns_pages = self.definition.page_size.is_some();
        let wanted = |row: &Map<String, Value>| {
            parameters
                .iter()
                .filter(|(name, _)| !(turns_pages && *name == PAGE))
                .all(|(name, value)| row.get(name).is_some_and(|field| equals(field, value)))
        };
        let rows: Vec<_> = self.rows.iter().filter(|row| wanted(row)).collect();
        let Some(size) = self.definition.page_size else {
            return Reply::json(200, &json!({"count": rows.len(), "rows": rows}));
        };
        let page = match parameters.get(PAGE).map(|page| page.parse::<usize>()) {
            None => 1,
            Some(Ok(page)) if page > 0 => page,
            Some(_) => {
                return failure(400, "parameter `page` must be a whole number from 1");
            }
        };
        let pages = rows.len().div_ceil(size).max(1);
        if page > pages {
            return failure(404, &format!("there is no page {page}; the last is page {pages}"));
        }
        let shown: Vec<_> = rows.iter().skip((page - 1) * size).take(size).collect();
        let body = json!({"count": rows.len(), "page": page, "pages": pages, "rows": shown});
        Reply::json(200, &body)
    }
}

/// Returns whether a field equals a value as written in a query.
fn equals(field: &Value, written: &str) -> bool {
    match field {
        Value::String(text) => text == written,
        Value::Number(number) => {
            let same = || Some(number.as_f64()?.total_cmp(&written.parse().ok()?).is_eq());
            number.to_string() == written || same().unwrap_or(false)
        }
        Value::Bool(flag) => written == if *flag { "true" } else { "false" },
        Value::Null => written.is_empty(),
        Value::Array(_) | Value::Object(_) => false,
    }
}

/// Returns an error as these services write it.
fn failure(status: u16, error: &str) -> Reply {
    Reply::json(status, &json!({ "error": error }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(page_size: Option<usize>, header: Option<&str>) -> JsonService {
        let definition = Service {
            path: "/api/tides".to_owned(),
            table: "tides.json".into(),
            required: vec!["station".to_owned()],
            optional: vec!["day".to_owned(), "level".to_owned(), "spring".to_owned()],
            require_header: header.map(ToOwned::to_owned),
            page_size,
        };
        let table = r#"[
            {"station": "Port Ellery", "day": 1, "level": 2.5, "spring": true},
            {"station": "Port Ellery", "day": 2, "level": 2.25, "spring": false},
            {"station": "Port Ellery", "day": 3, "level": null},
            {"station": "云岫港", "day": 1, "level": 3}
        ]"#;
        JsonService::new(definition, table.as_bytes()).unwrap()
    }

    fn ask(service: &JsonService, query: &str) -> (u16, Value) {
        let url = format!("https://tides.test/api/tides?{query}").parse().unwrap();
        let reply = service.answer(&Request::get(url));
        (reply.status, serde_json::from_slice(&reply.body).unwrap())
    }

    #[test]
    fn rows_are_chosen_by_the_query_and_mistakes_are_named() {
        let service = service(None, None);
        let table = [
            ("station=Port+Ellery", 200, "\"count\":3", "all of a station"),
            ("station=Port%20Ellery&day=2", 200, "\"count\":1", "a number"),
            ("station=Port+Ellery&level=2.50", 200, "\"count\":1", "a number, spelled otherwise"),
            ("station=Port+Ellery&spring=true", 200, "\"count\":1", "a flag"),
            ("station=%E4%BA%91%E5%B2%AB%E6%B8%AF", 200, "\"count\":1", "Chinese"),
            ("station=nowhere", 200, "\"count\":0,\"rows\":[]", "nothing fits: empty, not 404"),
            ("", 400, "missing required parameter `station`", "required"),
            ("station=a&dya=1", 400, "unknown parameter `dya`; known: `station`, `day`", "unknown"),
            ("station=a&station=b", 400, "more than once", "twice"),
            ("station=a&page=2", 400, "unknown parameter `page`", "no pages here"),
        ];
        for (query, status, want, why) in table {
            let (got, body) = ask(&service, query);
            assert_eq!(got, status, "{why}: {body}");
            assert!(body.to_string().contains(want), "{why}: {body}");
        }
    }

    #[test]
    fn pages_turn_and_end() {
        let service = service(Some(2), None);
        let table = [
            ("station=Port+Ellery", 200, 2, "the first page"),
            ("station=Port+Ellery&page=2", 200, 1, "the last one is short"),
            ("station=Port+Ellery&page=3", 404, 0, "past the end"),
            ("station=nowhere&page=1", 200, 0, "an empty list has one page"),
            ("station=Port+Ellery&page=0", 400, 0, "pages count from 1"),
            ("station=Port+Ellery&page=x", 400, 0, "no number"),
        ];
        for (query, status, rows, why) in table {
            let (got, body) = ask(&service, query);
            assert_eq!(got, status, "{why}: {body}");
            assert_eq!(body["rows"].as_array().map_or(0, Vec::len), rows, "{why}: {body}");
        }
    }

    #[test]
    fn a_stranger_is_told_the_header_and_not_its_value() {
        let service = service(None, Some("X-Station-Key: k-481"));
        let url: Url = "https://tides.test/api/tides?station=Port+Ellery".parse().unwrap();
        for (headers, status, why) in [
            (vec![], 401, "missing"),
            (vec![("x-station-key", "k-480")], 401, "wrong"),
            (vec![("x-station-key", "k-481")], 200, "right"),
        ] {
            let headers =
                headers.iter().map(|(k, v): &(&str, &str)| (k.to_string(), v.to_string()));
            let request = Request { headers: headers.collect(), ..Request::get(url.clone()) };
            let reply = service.answer(&request);
            let body = String::from_utf8_lossy(&reply.body);
            assert_eq!(reply.status, status, "{why}");
            assert_eq!(status == 401, body.contains("X-Station-Key"), "{why}: {body}");
            assert!(!body.contains("k-481"), "{why}: {body}");
        }
    }

    #[test]
    fn a_table_that_is_none_is_refused() {
        let definition = service(None, None).definition;
        for (table, why) in [("{}", "an object"), ("[1]", "no objects"), ("[", "no JSON")] {
            assert!(JsonService::new(definition.clone(), table.as_bytes()).is_err(), "{why}");
        }
    }
}
