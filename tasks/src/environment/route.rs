//! What a site computes for each request: routes, forms, lists, cookies and logins.
//!
//! Only data: the loader checks it against the files of the site, and the sandbox
//! answers from it. Nothing here keeps state. Whatever a visitor did before comes back
//! in the request (a cookie, a query, a form), so that an answer is a function of the
//! site, the request and the logical time.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One `[[route]]` of `site.toml`: a path, and what is answered there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
// serde cannot refuse unknown fields beside a flattened enum; the schema does.
#[schemars(deny_unknown_fields)]
pub struct Route {
    /// URL path; a part in braces stands for any text without `/`, as in `/trips/{id}` or
    /// `/reports/{year}.csv`; `{name*}` at the end stands for all the rest.
    #[schemars(extend("format" = "url-path"))]
    pub path: String,
    /// Methods that it answers; `HEAD` comes with `GET`.
    #[serde(default = "get", skip_serializing_if = "is_get")]
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    pub methods: Vec<Method>,
    /// What it answers.
    #[serde(flatten)]
    pub answer: Answer,
    /// HTTP status [default: 200, and 303 for a redirect].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 200, max = 599))]
    pub status: Option<u16>,
    /// Media type [default: by the name of the file; `text/plain` for `text`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "line"))]
    pub content_type: Option<String>,
    /// Name under which a browser saves the answer, as a template; makes it a download.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "line"))]
    pub filename: Option<String>,
    /// Seconds until the answer begins, 0 to 60.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0))]
    pub delay: f64,
    /// Headers of the answer, as templates.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Whether only those who are logged in get it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub login: bool,
    /// Whether a form must bring the hidden field `csrf_token` with the token of its session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub csrf: bool,
    /// Cookies that it sets: name of a `[[cookie]]` and the value as a template.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set_cookies: BTreeMap<String, String>,
    /// Cookies that it takes away: names of `[[cookie]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = {"type": "string", "format": "line"}))]
    pub clear_cookies: Vec<String>,
    /// Query parameters; others are ignored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub query: Vec<Field>,
    /// Fields of the form that is sent here; others are ignored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub form: Vec<Field>,
    /// Template that is shown where a query or form is wrong, with `errors`; below
    /// `templates/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", extend("format" = "path"))]
    pub invalid: Option<Utf8PathBuf>,
    /// One row of a table that the request names; the site's 404 where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<OneRow>,
    /// Rows of a table, filtered, sorted and cut into pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<List>,
    /// Whether the search engine lists its examples (and its path, where that has no parts).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub listed: bool,
    /// Paths, with a query if need be, that the route answers: for the search engine and
    /// for `wildgym web check`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = {"type": "string", "format": "line"}))]
    pub examples: Vec<String>,
}

impl Route {
    /// Returns the templates that stand in the route itself, each with its field.
    #[must_use]
    pub fn inline(&self) -> Vec<(String, &str)> {
        let mut all = Vec::new();
        match &self.answer {
            Answer::Redirect(text) => all.push(("redirect".to_owned(), text.as_str())),
            Answer::Text(text) => all.push(("text".to_owned(), text.as_str())),
            Answer::Json(value) => texts_of(value, "json", &mut all),
            Answer::Template(_) | Answer::Download(_) => {}
        }
        all.extend(self.filename.iter().map(|text| ("filename".to_owned(), text.as_str())));
        for (part, map) in [("headers", &self.headers), ("set_cookies", &self.set_cookies)] {
            all.extend(map.iter().map(|(name, text)| (format!("{part}.{name}"), text.as_str())));
        }
        let filters = self.list.iter().flat_map(|list| list.filters.iter().enumerate());
        all.extend(filters.filter_map(|(at, filter)| {
            Some((format!("list.filter[{at}].value"), filter.value.as_deref()?))
        }));
        all
    }
}

/// Collects the texts in a JSON value.
fn texts_of<'a>(value: &'a Value, field: &str, all: &mut Vec<(String, &'a str)>) {
    match value {
        Value::String(text) => all.push((field.to_owned(), text)),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                texts_of(item, &format!("{field}[{at}]"), all);
            }
        }
        Value::Object(fields) => {
            for (name, item) in fields {
                texts_of(item, &format!("{field}.{name}"), all);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn get() -> Vec<Method> {
    vec![Method::Get]
}

fn is_get(methods: &[Method]) -> bool {
    methods == [Method::Get]
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

/// A method of HTTP that routes can answer.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// Reading.
    Get,
    /// Sending a form.
    Post,
    /// Replacing.
    Put,
    /// Changing a part.
    Patch,
    /// Deleting.
    Delete,
}

impl Method {
    /// Returns the method's name in a request.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// What a route answers: exactly one of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// A template below `templates/`; HTML, XML and JSON are escaped as they need.
    Template(#[schemars(with = "String", extend("format" = "path"))] Utf8PathBuf),
    /// A redirect to a path or URL, as a template.
    Redirect(#[schemars(extend("format" = "line"))] String),
    /// JSON whose texts are templates; a text that is one `{{ … }}` becomes its value.
    Json(Value),
    /// A file of the site's folder, as it is.
    Download(#[schemars(with = "String", extend("format" = "path"))] Utf8PathBuf),
    /// A text, as a template.
    Text(String),
}

/// A query parameter or a field of a form.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Name in the request and in templates (`query.<name>`, `form.<name>`).
    #[schemars(extend("format" = "name"))]
    pub name: String,
    /// What it holds.
    #[serde(default, rename = "type", skip_serializing_if = "is_text")]
    pub kind: FieldKind,
    /// Name in messages [default: `name`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "line"))]
    pub label: Option<String>,
    /// Whether it must be there and not blank.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// Whether it may be given several times; its value is then a list.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub many: bool,
    /// Regular expression that the whole text must match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "regex"))]
    pub pattern: Option<String>,
    /// Least number, or earliest date (`today` is the day of the logical clock).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Value>,
    /// Largest number, or latest date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Value>,
    /// Most characters of a text, or most bytes of a file [default: 2000; 1 MiB].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_length: Option<usize>,
    /// The values of a `choice`, or the endings of a `file` (`.csv`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = {"type": "string", "format": "line"}, "uniqueItems" = true))]
    pub choices: Vec<String>,
    /// What is said where the value is wrong [default: words for each rule].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "line"))]
    pub message: Option<String>,
    /// A right value, for `wildgym web check`; needed where there is a `pattern`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "line"))]
    pub example: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_text(kind: &FieldKind) -> bool {
    *kind == FieldKind::Text
}

/// What a field holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FieldKind {
    /// Any text.
    #[default]
    Text,
    /// A number, with a point for decimals.
    Number,
    /// A day, as `YYYY-MM-DD`.
    Date,
    /// One of `choices`.
    Choice,
    /// A checkbox: set where it is sent.
    Flag,
    /// A file, sent as `multipart/form-data`.
    File,
}

/// The one row of a table that a request names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneRow {
    /// Name in `[tables]`.
    #[schemars(extend("format" = "name"))]
    pub table: String,
    /// Column that holds what the request names.
    #[schemars(extend("format" = "line"))]
    pub column: String,
    /// Part of the path, or query parameter, that names it [default: as the column].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "name"))]
    pub parameter: Option<String>,
}

/// Rows of a table: filtered, sorted, and cut into pages by the parameters `page`,
/// `page_size` and `sort`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// Name in `[tables]`.
    #[schemars(extend("format" = "name"))]
    pub table: String,
    /// Rows of a page; without it all are on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub page_size: Option<usize>,
    /// What the parameter `page_size` may be; without it there is no such parameter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = {"type": "integer", "minimum": 1}))]
    pub page_sizes: Vec<usize>,
    /// What the parameter `sort` may be: a column, or `-column` for the largest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = {"type": "string", "format": "line"}, "uniqueItems" = true))]
    pub sort: Vec<String>,
    /// The order without that parameter [default: as in the table].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "line"))]
    pub order: Option<String>,
    /// Which rows are shown; all filters must fit.
    #[serde(default, rename = "filter", skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<Filter>,
}

/// One condition on the rows of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// Query parameter or part of the path; where it is not given, every row fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "name"))]
    pub parameter: Option<String>,
    /// Value as a template, such as `{{ user.name }}`, instead of a parameter; always applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "line"))]
    pub value: Option<String>,
    /// Columns of which one must fit [default: that of the parameter's name].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = {"type": "string", "format": "line"}))]
    pub columns: Vec<String>,
    /// How a cell fits.
    #[serde(default, rename = "match")]
    pub how: Fits,
}

/// How a cell fits a value. Two numbers are compared as numbers, all else as text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fits {
    /// It is the same.
    #[default]
    Equals,
    /// It contains the text, in small or capital letters.
    Contains,
    /// It is the same or larger.
    From,
    /// It is the same or smaller.
    To,
}

/// A cookie that routes of the site set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cookie {
    /// Name in the request and in templates (`cookies.<name>`).
    #[schemars(extend("format" = "name"))]
    pub name: String,
    /// Whether it is signed; a signed one that was changed, or is too old, is as none.
    #[serde(default)]
    pub signed: bool,
    /// Seconds that it lives; without it, as long as the browser's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_age: Option<u32>,
    /// Whether scripts of a page cannot read it.
    #[serde(default)]
    pub http_only: bool,
    /// Whether it is sent over https only.
    #[serde(default)]
    pub secure: bool,
    /// Whether other sites' pages send it along.
    #[serde(default)]
    pub same_site: SameSite,
}

/// Whether a cookie goes along with requests that other sites' pages cause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SameSite {
    /// With links that are followed.
    #[default]
    Lax,
    /// Never.
    Strict,
    /// Always; such a cookie must be `secure`.
    None,
}

impl SameSite {
    /// Returns the value of the cookie's attribute.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lax => "Lax",
            Self::Strict => "Strict",
            Self::None => "None",
        }
    }
}

/// Who may log in, and what for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Login {
    /// Path of the form, which is also sent there.
    #[schemars(extend("format" = "url-path"))]
    pub path: String,
    /// Template of the form, below `templates/`.
    #[schemars(with = "String", extend("format" = "path"))]
    pub template: Utf8PathBuf,
    /// Path that ends a session, by `GET` or `POST`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "url-path"))]
    pub logout: Option<String>,
    /// Where a login leads that nothing else asked for.
    #[serde(default = "root")]
    #[schemars(extend("format" = "url-path"))]
    pub home: String,
    /// Where a logout leads.
    #[serde(default = "root")]
    #[schemars(extend("format" = "url-path"))]
    pub after_logout: String,
    /// Paths, of pages too, that need a login; `*` stands for any text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = {"type": "string", "format": "line"}))]
    pub protected: Vec<String>,
    /// Minutes of the logical clock that a session lasts.
    #[serde(default = "hour")]
    #[schemars(range(min = 1))]
    pub minutes: u32,
    /// Name of the session's cookie.
    #[serde(default = "session")]
    #[schemars(extend("format" = "name"))]
    pub cookie: String,
    /// Whether that cookie is sent over https only.
    #[serde(default = "yes")]
    pub secure: bool,
    /// Whether other sites' pages send it along.
    #[serde(default)]
    pub same_site: SameSite,
    /// Name of the form's field for the user.
    #[serde(default = "user")]
    #[schemars(extend("format" = "name"))]
    pub user_field: String,
    /// Name of the form's field for the password.
    #[serde(default = "password")]
    #[schemars(extend("format" = "name"))]
    pub password_field: String,
    /// Whether the form must bring `csrf_token`.
    #[serde(default)]
    pub csrf: bool,
    /// What is said to a wrong name or password [default: by language].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "line"))]
    pub message: Option<String>,
    /// Who may log in.
    #[serde(rename = "user")]
    #[schemars(length(min = 1))]
    pub users: Vec<User>,
}

fn root() -> String {
    "/".to_owned()
}

fn hour() -> u32 {
    60
}

fn session() -> String {
    "session".to_owned()
}

fn user() -> String {
    "user".to_owned()
}

fn password() -> String {
    "password".to_owned()
}

fn yes() -> bool {
    true
}

/// Somebody who may log in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct User {
    /// Name that is typed in; small and capital letters are the same.
    #[schemars(extend("format" = "line"))]
    pub name: String,
    /// The password.
    #[schemars(extend("format" = "line"))]
    pub password: String,
    /// What templates show, as `user.<field>`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub data: BTreeMap<String, Value>,
}
