//! One request as a site sees it: who sent it, with which cookies, at what time.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use minijinja::Value;
use wildgym_tasks::environment::User;

use super::render::{Context, Fault, Lenient, here_with, json, render};
use super::secret::Purpose;
use super::{Routes, body, cookies};
use crate::web::Request;

/// A request, and who sent it.
pub(super) struct Visit<'r> {
    pub(super) request: &'r Request,
    pub(super) now: Timestamp,
    /// Who is logged in.
    pub(super) user: Option<&'r User>,
    /// The cookie of the session, where it is one; forms' tokens are bound to it.
    pub(super) session: String,
    /// Whether there is a session that has ended.
    pub(super) is_expired: bool,
    cookies: BTreeMap<String, String>,
}

impl<'r> Visit<'r> {
    /// Reads the cookies of a request; the error says why they cannot be.
    pub(super) fn of(
        site: &'r Routes,
        request: &'r Request,
        now: Timestamp,
    ) -> Result<Self, String> {
        let sent = cookies::read(request)
            .ok_or_else(|| "The request has too many or too large cookies.".to_owned())?;
        let declared = site.meta.cookies.iter();
        let cookies = declared.filter_map(|cookie| {
            Some((cookie.name.clone(), cookies::value(cookie, &sent, &site.secret, now)?))
        });
        let mut visit = Self {
            request,
            now,
            user: None,
            session: String::new(),
            is_expired: false,
            cookies: cookies.collect(),
        };
        let Some(login) = &site.meta.login else { return Ok(visit) };
        let written = sent.iter().find(|(name, _)| *name == login.cookie).map(|(_, it)| it);
        let read = |written| site.secret.read(Purpose::Session, &login.cookie, written);
        if let Some((written, signed)) = written.and_then(|it| Some((it, read(it)?))) {
            let age = now.as_second() - signed.issued;
            if (0..i64::from(login.minutes) * 60).contains(&age) {
                visit.user = login.users.iter().find(|user| user.name == signed.value);
                visit.session.clone_from(written);
            } else {
                visit.is_expired = true;
            }
        }
        Ok(visit)
    }

    /// Returns the day of the logical clock, in UTC.
    pub(super) fn today(&self) -> Date {
        self.now.to_zoned_datetime(jiff::tz::TimeZone::UTC).date()
    }

    /// Returns the token that a form must bring.
    pub(super) fn token(&self, site: &Routes) -> String {
        site.secret.token(&self.session)
    }

    /// Returns the path with the query, as sent.
    pub(super) fn here(&self) -> String {
        let url = &self.request.url;
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}{query}", url.path())
    }

    /// Reads the form that the request brings.
    pub(super) fn form(&self) -> Result<body::Fields, body::BodyError> {
        let mut headers = self.request.headers.iter();
        let kind = headers.find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        body::form(kind.map(|(_, value)| value.as_str()), &self.request.body)
    }

    /// Returns what every template of the site sees.
    pub(super) fn context(&self, site: &Routes) -> Context {
        let (url, meta) = (&self.request.url, &site.meta);
        let pairs = url.query_pairs();
        let pairs = pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        let texts = |map: &BTreeMap<String, String>| {
            Lenient::of(map.iter().map(|(name, text)| (name.clone(), Value::from(text.as_str()))))
        };
        let tables = site.tables.iter().map(|(name, shown)| (name.as_str(), shown.all()));
        Context::from([
            ("path", texts(&BTreeMap::new())),
            ("query", Lenient::of([])),
            ("form", Lenient::of([])),
            ("errors", Lenient::of([])),
            ("tables", Value::from_pairs(tables)),
            ("cookies", texts(&self.cookies)),
            ("user", self.user.map_or(Value::from(()), user)),
            ("csrf_token", Value::from(self.token(site))),
            ("now", Value::from(self.now.to_string())),
            ("today", Value::from(self.today().to_string())),
            (
                "site",
                Value::from_pairs([
                    ("host", site.host.as_str()),
                    ("title", &meta.title),
                    ("language", meta.language.name()),
                ]),
            ),
            ("here", Value::from(self.here())),
            ("here_with", here_with(url.path(), pairs)),
        ])
    }
}

/// Makes `user`: what is known of a user, but the password. A field that only other users
/// have is empty.
fn user(user: &User) -> Value {
    let data = user.data.iter().map(|(name, value)| (name.clone(), json(value)));
    let name = ("name".to_owned(), Value::from(user.name.as_str()));
    Lenient::of(data.chain([name]))
}

/// Renders the site's own page about a failure.
pub(super) fn error_page(
    site: &Routes,
    template: &str,
    visit: &Visit<'_>,
    (status, title, message): (u16, &str, &str),
) -> Result<String, Fault> {
    let mut context = visit.context(site);
    context.insert("status", Value::from(status));
    context.insert("title", Value::from(title));
    context.insert("message", Value::from(message));
    render(&site.language, template, &context)
}
