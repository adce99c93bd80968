//! What one route answers to one request.

use std::collections::BTreeMap;
use std::time::Duration;

use minijinja::Value;
use wildgym_tasks::environment::{Answer, FieldKind, Filter, Given, List, Route};

use super::body::{self, BodyError};
use super::fields::Filled;
use super::render::{Context, Fault, Lenient, render};
use super::rows::{self, Condition, NoPage};
use super::{Asked, Routes, Visit, cookies, filled, inline, login};
use crate::web::media::content_type_of;
use crate::web::reply::Reply;

/// Name of the hidden field with the token of a session.
const TOKEN: &str = "csrf_token";

/// Why a route does not answer as it would.
#[derive(Debug)]
pub(super) enum Refusal {
    /// With another reply.
    Reply(Box<Reply>),
    /// With the page that says what is wrong: status and message.
    Told(u16, String),
    /// A template is broken.
    Fault(Fault),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl Refusal {
    /// Says why a body cannot be read.
    pub(super) fn of_body(error: &BodyError) -> Self {
        Self::Told(error.status(), format!("The request cannot be read: {error}."))
    }
}

/// Returns how long a route takes.
pub(super) fn delay(route: &Route) -> Duration {
    Duration::try_from_secs_f64(route.delay).unwrap_or_default()
}

/// Answers a request that a route is asked for.
pub(super) fn answer(
    site: &Routes,
    asked: &Asked<'_>,
    visit: &Visit<'_>,
) -> Result<Reply, Refusal> {
    let route = &asked.opened.route;
    let json = matches!(route.answer, Answer::Json(_));
    if let Some(login) = site.meta.login.as_ref().filter(|_| route.login && visit.user.is_none()) {
        return Err(login::refuse(login, visit, json));
    }
    let sent = body::query(visit.request.url.query().unwrap_or_default())
        .map_err(|error| Refusal::of_body(&error))?;
    let language = site.meta.language;
    let query = Filled::of(&route.query, &sent, visit.today(), language);
    let form = if route.form.is_empty() && !route.csrf {
        Filled::default()
    } else {
        let sent = visit.form().map_err(|error| Refusal::of_body(&error))?;
        if route.csrf {
            check_token(site, visit, &sent)?;
        }
        Filled::of(&route.form, &sent, visit.today(), language)
    };
    let mut context = visit.context(site);
    let parts = asked.parts.iter().map(|(name, text)| (name.clone(), Value::from(text.as_str())));
    context.insert("path", Lenient::of(parts));
    context.insert("query", query.value());
    context.insert("form", form.value());
    let parameters = parameters(asked, &query);
    if let Some(row) = &route.row {
        let wanted = parameters.get(row.parameter.as_ref().unwrap_or(&row.column));
        let wanted = wanted.and_then(|values| values.first());
        let found = wanted.and_then(|wanted| site.tables.get(&row.table)?.find(row, wanted));
        let found = found.ok_or_else(|| Refusal::Told(404, site.no_page()))?;
        context.insert("row", found);
    }
    if !query.errors.is_empty() || !form.errors.is_empty() {
        return invalid(site, route, context, &query, &form);
    }
    if let Some(list) = &route.list {
        let list = listed(site, asked, list, &context, (&parameters, &sent))?;
        context.insert("list", list);
    }
    let reply = content(site, asked, &context)?;
    finished(site, asked, visit, &context, reply)
}

/// Returns what rows and filters can be chosen by: parts of the path, and the query.
fn parameters(asked: &Asked<'_>, query: &Filled) -> BTreeMap<String, Vec<String>> {
    let parts = asked.parts.iter().map(|(name, text)| (name.clone(), vec![text.clone()]));
    query.texts.clone().into_iter().chain(parts).collect()
}

/// Refuses a form without the token of its session.
pub(super) fn check_token(
    site: &Routes,
    visit: &Visit<'_>,
    sent: &body::Fields,
) -> Result<(), Refusal> {
    let token = Given::Text(visit.token(site));
    if sent.iter().any(|(name, given)| name == TOKEN && *given == token) {
        return Ok(());
    }
    let message = match site.meta.language.name() {
        "zh" => "表单已失效，请返回后重试。",
        _ => "This form is no longer valid. Go back, reload the page and try again.",
    };
    Err(Refusal::Told(403, message.to_owned()))
}

/// Shows what is wrong with a query or a form.
fn invalid(
    site: &Routes,
    route: &Route,
    mut context: Context,
    query: &Filled,
    form: &Filled,
) -> Result<Reply, Refusal> {
    let status = if form.errors.is_empty() { 400 } else { 422 };
    let errors: BTreeMap<&String, &String> = query.errors.iter().chain(&form.errors).collect();
    let Some(template) = &route.invalid else {
        let all: Vec<&str> = errors.values().map(|problem| problem.as_str()).collect();
        if matches!(route.answer, Answer::Json(_)) {
            let body = serde_json::json!({ "error": all.join(" "), "fields": errors });
            return Ok(Reply::json(status, &body));
        }
        return Err(Refusal::Told(status, all.join(" ")));
    };
    let errors = errors.into_iter();
    let errors = errors.map(|(name, problem)| (name.clone(), Value::from(problem.as_str())));
    context.insert("errors", Lenient::of(errors));
    if route.list.is_some() {
        context.insert("list", rows::nothing());
    }
    let page = render(&site.language, template.as_str(), &context)?;
    Ok(Reply::new(status, &content_type_of(template.as_str(), "", page.as_bytes()), page))
}

/// Makes the page of a list that a request asks for.
fn listed(
    site: &Routes,
    asked: &Asked<'_>,
    list: &List,
    context: &Context,
    (parameters, sent): (&BTreeMap<String, Vec<String>>, &body::Fields),
) -> Result<Value, Refusal> {
    let mut conditions = Vec::new();
    for (at, filter) in list.filters.iter().enumerate() {
        let name = inline(asked.opened.index, &format!("list.filter[{at}].value"));
        let values = match (&filter.parameter, &filter.value) {
            (Some(parameter), _) => match parameters.get(parameter) {
                Some(values) if !values.is_empty() => values.clone(),
                Some(_) | None => continue,
            },
            (None, Some(_)) => vec![render(&site.language, &name, context)?],
            (None, None) => continue,
        };
        conditions.push(Condition { columns: columns(filter), how: filter.how, values });
    }
    let turning = rows::turning(list);
    let texts = sent.iter().filter_map(|(name, given)| match given {
        Given::Text(text) if turning.contains(&name.as_str()) => {
            Some((name.clone(), text.trim().to_owned()))
        }
        Given::Text(_) | Given::File { .. } => None,
    });
    // The loader knows that there is the table.
    let Some(shown) = site.tables.get(&list.table) else { return Ok(rows::nothing()) };
    rows::page(list, shown, &conditions, &texts.collect()).map_err(|no_page| match no_page {
        NoPage::Bad(problem) => Refusal::Told(400, format!("The address is wrong: {problem}.")),
        NoPage::Beyond(problem) => Refusal::Told(404, format!("{problem}.")),
    })
}

fn columns(filter: &Filter) -> Vec<&str> {
    if filter.columns.is_empty() {
        filter.parameter.iter().map(String::as_str).collect()
    } else {
        filter.columns.iter().map(String::as_str).collect()
    }
}

/// Makes the reply's status, type and body.
fn content(site: &Routes, asked: &Asked<'_>, context: &Context) -> Result<Reply, Refusal> {
    let route = &asked.opened.route;
    let show = |name: &str| render(&site.language, name, context);
    let own = |field: &str| show(&inline(asked.opened.index, field));
    let status = route.status.unwrap_or(200);
    Ok(match &route.answer {
        Answer::Template(file) => {
            let body = show(file.as_str())?;
            Reply::new(status, &content_type_of(file.as_str(), "", body.as_bytes()), body)
        }
        Answer::Redirect(template) => {
            let target = own("redirect")?;
            // What was typed may begin with a slash; two of them would name a host.
            let target = if template.starts_with('/') {
                format!("/{}", target.trim_start_matches(['/', '\\']))
            } else {
                target
            };
            Reply::redirect(route.status.unwrap_or(303), &target)
        }
        Answer::Json(value) => Reply::json(status, &filled(value, "json", &own)?),
        Answer::Download(file) => {
            let bytes = asked.opened.file.clone();
            Reply::new(status, &content_type_of(file.as_str(), "", &bytes), bytes)
        }
        Answer::Text(_) => Reply::new(status, "text/plain; charset=utf-8", own("text")?),
    })
}

/// Adds what stands around the content: type, name, headers, cookies.
fn finished(
    site: &Routes,
    asked: &Asked<'_>,
    visit: &Visit<'_>,
    context: &Context,
    mut reply: Reply,
) -> Result<Reply, Refusal> {
    let route = &asked.opened.route;
    let own = |field: &str| render(&site.language, &inline(asked.opened.index, field), context);
    if let Some(media) = &route.content_type {
        reply.headers.retain(|(name, _)| name != "content-type");
        reply = reply.with("content-type", media);
    }
    let name = match (&route.filename, &route.answer) {
        (Some(_), _) => Some(own("filename")?),
        (None, Answer::Download(file)) => file.file_name().map(ToOwned::to_owned),
        (None, _) => None,
    };
    if let Some(name) = name {
        reply = reply.with("content-disposition", &disposition(&name));
    }
    for name in route.headers.keys() {
        let value = own(&format!("headers.{name}"))?;
        reply = reply.with(name, &value);
    }
    for name in route.set_cookies.keys() {
        let value = own(&format!("set_cookies.{name}"))?;
        let declared = site.meta.cookies.iter().find(|cookie| cookie.name == *name);
        let Some(declared) = declared else { continue };
        let written = cookies::set(declared, &value, &site.secret, visit.now).ok_or_else(|| {
            let most = cookies::LARGEST_COOKIE;
            Refusal::Told(400, format!("The cookie `{name}` would have more than {most} bytes."))
        })?;
        reply = reply.with("set-cookie", &written);
    }
    for name in &route.clear_cookies {
        reply = reply.with("set-cookie", &cookies::clear(name));
    }
    // What depends on who asks is not for a cache that others share.
    if visit.user.is_some() && reply.header("cache-control").is_none() {
        reply = reply.with("cache-control", "private, no-store");
    }
    Ok(reply)
}

/// Writes `Content-Disposition` (RFC 6266): the name, and once more where it is not ASCII.
fn disposition(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_graphic() || c == ' ' { c } else { '_' };
    let plain = |c: char| if matches!(c, '"' | '\\' | '/') { '_' } else { plain(c) };
    let ascii: String = name.chars().map(plain).collect();
    let mut written = format!("attachment; filename=\"{ascii}\"");
    if !name.is_ascii() {
        written.push_str("; filename*=UTF-8''");
        written.push_str(&wildgym_tasks::environment::path::escaped(name));
    }
    written
}

/// Returns whether a route takes a form with files.
pub(super) fn takes_files(route: &Route) -> bool {
    route.form.iter().any(|field| field.kind == FieldKind::File)
}
