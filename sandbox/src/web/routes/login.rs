//! Logging in and out.
//!
//! A session is a signed cookie and nothing else: no attempt can see or end that of
//! another. Where a login leads is a path of the site itself, whatever was asked for.

use minijinja::Value;
use wildgym_tasks::environment::path::escaped;
use wildgym_tasks::environment::{Given, Login};

use super::answer::{Refusal, check_token};
use super::cookies::{self, Attributes};
use super::render::{Lenient, render};
use super::secret::Purpose;
use super::{Routes, Visit};
use crate::web::Request;
use crate::web::reply::Reply;

/// Longest way back that is remembered, in bytes.
const LONGEST_WAY: usize = 2000;

/// Answers at the path of the login: with the form, or by what was typed into it.
pub(super) fn page(site: &Routes, login: &Login, visit: &Visit<'_>) -> Result<Reply, Refusal> {
    let request = visit.request;
    if request.method == http::Method::POST {
        return try_it(site, login, visit);
    }
    if request.method == http::Method::OPTIONS {
        return Ok(Reply::new(204, "text/plain", "").with("allow", "GET, HEAD, OPTIONS, POST"));
    }
    if !matches!(request.method, http::Method::GET | http::Method::HEAD) {
        return Ok(Reply::method_not_allowed(&request.method, "GET, HEAD, OPTIONS, POST"));
    }
    let query = |wanted: &str| {
        request
            .url
            .query_pairs()
            .find(|(name, _)| name == wanted)
            .map(|(_, value)| value.into_owned())
    };
    let next = query("next").and_then(|next| way(&next));
    if visit.user.is_some() {
        return Ok(Reply::see_other(next.as_deref().unwrap_or(&login.home)));
    }
    let failed = match (query("expired"), site.meta.language.name()) {
        (None, _) => "",
        (Some(_), "zh") => "登录已过期，请重新登录。",
        (Some(_), _) => "Your session has expired. Please log in again.",
    };
    form(site, login, visit, (200, &next.unwrap_or_default(), failed, ""))
}

/// Takes a name and a password.
fn try_it(site: &Routes, login: &Login, visit: &Visit<'_>) -> Result<Reply, Refusal> {
    let sent = visit.form().map_err(|error| Refusal::of_body(&error))?;
    if login.csrf {
        check_token(site, visit, &sent)?;
    }
    let text = |wanted: &str| {
        sent.iter().find_map(|(name, given)| match given {
            Given::Text(text) if name == wanted => Some(text.as_str()),
            Given::Text(_) | Given::File { .. } => None,
        })
    };
    let name = text(&login.user_field).unwrap_or_default().trim();
    let password = text(&login.password_field).unwrap_or_default();
    let next = text("next").and_then(way);
    let user = login
        .users
        .iter()
        .find(|user| user.name.to_lowercase() == name.to_lowercase() && user.password == password);
    let Some(user) = user else {
        let usual = match site.meta.language.name() {
            "zh" => "用户名或密码错误。",
            _ => "Unknown name or wrong password.",
        };
        let failed = login.message.as_deref().unwrap_or(usual);
        return form(site, login, visit, (401, &next.unwrap_or_default(), failed, name));
    };
    let session = site.secret.sign(Purpose::Session, &login.cookie, &user.name, visit.now);
    let attributes = Attributes {
        max_age: Some(i64::from(login.minutes) * 60),
        http_only: true,
        secure: login.secure,
        same_site: login.same_site,
    };
    let reply = Reply::see_other(next.as_deref().unwrap_or(&login.home));
    Ok(reply.with("set-cookie", &attributes.write(&login.cookie, &session)))
}

/// Shows the form: status, where it leads, what was wrong, and the name that was typed.
fn form(
    site: &Routes,
    login: &Login,
    visit: &Visit<'_>,
    (status, next, failed, name): (u16, &str, &str, &str),
) -> Result<Reply, Refusal> {
    let mut context = visit.context(site);
    context.insert("next", Value::from(next));
    context.insert("failed", Value::from(failed));
    context.insert("form", Lenient::of([(login.user_field.clone(), Value::from(name))]));
    let page = render(&site.language, login.template.as_str(), &context)?;
    Ok(Reply::new(status, "text/html; charset=utf-8", page).with("cache-control", "no-store"))
}

/// Ends a session.
pub(super) fn logout(login: &Login, request: &Request) -> Reply {
    match request.method {
        http::Method::GET | http::Method::HEAD | http::Method::POST => {
            Reply::see_other(&login.after_logout).with("set-cookie", &cookies::clear(&login.cookie))
        }
        http::Method::OPTIONS => {
            Reply::new(204, "text/plain", "").with("allow", "GET, HEAD, OPTIONS, POST")
        }
        _ => Reply::method_not_allowed(&request.method, "GET, HEAD, OPTIONS, POST"),
    }
}

/// Sends somebody who is not logged in to the form, and from there back; a script is told.
pub(super) fn refuse(login: &Login, visit: &Visit<'_>, json: bool) -> Refusal {
    if json {
        return Refusal::Told(401, "Log in first.".to_owned());
    }
    // What was sent is lost, so the way back is only for what can be asked for again.
    let reads = matches!(visit.request.method, http::Method::GET | http::Method::HEAD);
    let next = if reads { visit.here() } else { String::new() };
    let next = way(&next).map(|next| format!("next={}", escaped(&next)));
    let expired = visit.is_expired.then(|| "expired=1".to_owned());
    let query: Vec<String> = next.into_iter().chain(expired).collect();
    let mark = if query.is_empty() { "" } else { "?" };
    Refusal::Reply(Box::new(Reply::see_other(&format!("{}{mark}{}", login.path, query.join("&")))))
}

/// Returns a way back that stays on the site: a path, and no other host in any spelling
/// that a browser reads as one.
fn way(next: &str) -> Option<String> {
    let plain = |c: char| !c.is_control() && c != '\\';
    let stays = next.starts_with('/')
        && !next.starts_with("//")
        && next.len() <= LONGEST_WAY
        && next.chars().all(plain);
    stays.then(|| next.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_leads_nowhere_else() {
        let table = [
            ("/account?tab=1", true, "a path"),
            ("//evil.test/", false, "another host"),
            ("/\\evil.test/", false, "another host, as browsers read it"),
            ("/\t/evil.test/", false, "browsers drop tabs"),
            ("https://evil.test/", false, "a URL"),
            ("javascript:alert(1)", false, "a script"),
            ("", false, "nothing"),
            ("/a\r\nset-cookie: x", false, "another header"),
        ];
        for (next, want, why) in table {
            assert_eq!(way(next).is_some(), want, "{why}: {next:?}");
        }
        assert!(way(&format!("/{}", "a".repeat(LONGEST_WAY))).is_none(), "endless");
    }
}
