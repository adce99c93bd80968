//! Requests that a route should answer, for the search engine and for the check of a web.

use std::collections::BTreeMap;

use bytes::Bytes;
use jiff::Timestamp;
use url::form_urlencoded::Serializer;
use wildgym_tasks::environment::{Field, Method};

use super::answer::{self, Refusal, takes_files};
use super::secret::Purpose;
use super::{Asked, Fault, Opened, Routes, Visit};
use crate::web::Request;
use crate::web::reply::Reply;

/// Most rows of a table whose pages are tried.
const MOST_ROWS: usize = 2000;

/// A request that a route should answer.
#[derive(Debug, Clone)]
pub(in crate::web) struct Sample {
    /// Which route of `site.toml`, from 0.
    pub(in crate::web) route: usize,
    /// The request, with the session of a user where it needs one.
    pub(in crate::web) request: Request,
    /// Whether what it brings is right: a wrong form is a sample, too.
    pub(in crate::web) is_right: bool,
}

impl Routes {
    /// Returns the addresses, without a query, of what the search engine lists.
    pub(in crate::web) fn listed(&self) -> Vec<(String, Request)> {
        let listed = self.opened.iter().filter(|opened| opened.route.listed);
        let paths = listed.flat_map(|opened| self.addresses(opened));
        let paths = paths.filter(|path| !path.contains('?'));
        paths.filter_map(|path| Some((path.clone(), self.get(&path)?))).collect()
    }

    /// Returns requests for every route, at a logical time.
    pub(in crate::web) fn samples(&self, now: Timestamp) -> Vec<Sample> {
        let mut samples = Vec::new();
        for opened in &self.opened {
            for address in self.addresses(opened) {
                for method in &opened.route.methods {
                    samples.extend(self.sample(opened, &address, *method, now));
                }
            }
        }
        samples
    }

    /// Answers a sample; the error is a template's.
    pub(in crate::web) fn try_sample(
        &self,
        sample: &Sample,
        now: Timestamp,
    ) -> Result<Reply, Fault> {
        let asked = self.asked(&sample.request).unwrap_or_default();
        let asked = asked.into_iter().find(|asked| asked.opened.index == sample.route);
        let visit = Visit::of(self, &sample.request, now).ok();
        let Some((asked, visit)) = asked.zip(visit) else {
            return Ok(Reply::told(404, "en", "404", "the route is not reached"));
        };
        let visit: &Visit<'_> = &visit;
        let asked: &Asked<'_> = &asked;
        match answer::answer(self, asked, visit) {
            Err(Refusal::Fault(fault)) => Err(fault),
            other => Ok(self.told(visit, other, false)),
        }
    }

    /// Returns the cookie header of the first user's session.
    pub(in crate::web) fn pass(&self, now: Timestamp) -> Option<String> {
        let login = self.meta.login.as_ref()?;
        let user = login.users.first()?;
        let session = self.secret.sign(Purpose::Session, &login.cookie, &user.name, now);
        Some(format!("{}={session}", login.cookie))
    }

    /// Returns where a route can be asked: its examples, its path where that has no parts,
    /// and the rows that a part names.
    fn addresses(&self, opened: &Opened) -> Vec<String> {
        let route = &opened.route;
        let mut addresses = route.examples.clone();
        addresses.extend(opened.path.filled(&BTreeMap::new()));
        if let Some(row) = &route.row {
            let part = row.parameter.as_ref().unwrap_or(&row.column);
            let shown = self.tables.get(&row.table).into_iter();
            let cells = shown.flat_map(|shown| shown.column(&row.column)).take(MOST_ROWS);
            addresses
                .extend(cells.filter_map(|cell| {
                    opened.path.filled(&BTreeMap::from([(part.clone(), cell)]))
                }));
        }
        let mut seen = std::collections::BTreeSet::new();
        addresses.retain(|address| seen.insert(address.clone()));
        addresses
    }

    fn get(&self, address: &str) -> Option<Request> {
        let base = url::Url::parse(&format!("https://{}/", self.host)).ok()?;
        Some(Request::get(base.join(address).ok()?))
    }

    /// Returns the requests of one method at one address: a right one, and, where there is
    /// something to fill in, one that is left empty.
    fn sample(
        &self,
        opened: &Opened,
        address: &str,
        method: Method,
        now: Timestamp,
    ) -> Vec<Sample> {
        let route = &opened.route;
        let Some(mut request) = self.get(address) else { return Vec::new() };
        let session = self.pass(now);
        request.headers.extend(session.iter().map(|pass| ("cookie".to_owned(), pass.clone())));
        request.method = method.name().parse().unwrap_or_default();
        let today = now.to_zoned_datetime(jiff::tz::TimeZone::UTC).date();
        let values = |fields: &[Field]| -> Vec<(String, String)> {
            let values = fields.iter().filter_map(|it| Some((it.name.clone(), it.sample(today)?)));
            values.collect()
        };
        let is_sent = method != Method::Get;
        let mut fields = if is_sent { values(&route.form) } else { Vec::new() };
        if route.csrf {
            let session = session.as_deref().and_then(|pass| pass.split_once('='));
            let token = self.secret.token(session.map_or("", |(_, session)| session));
            fields.push(("csrf_token".to_owned(), token));
        }
        let mut right = request.clone();
        if right.url.query().is_none() && !route.query.is_empty() {
            right.url.query_pairs_mut().extend_pairs(values(&route.query));
        }
        if is_sent {
            let mut body = Serializer::new(String::new());
            body.extend_pairs(&fields);
            right.body = Bytes::from(body.finish());
        }
        let sample = |request, is_right| Sample { route: opened.index, request, is_right };
        let whole = !takes_files(route) || route.form.iter().all(|field| !field.required);
        let mut samples = vec![sample(right, whole)];
        if !route.query.is_empty() || (is_sent && !route.form.is_empty() && !route.csrf) {
            samples.push(sample(request, false));
        }
        samples
    }
}
