//! Checks what concerns a whole site: logins, cookies, headers, robots.

use super::routes::{self, Checked};
use crate::check::Pattern;
use crate::environment::{Article, Cookie, Login, SameSite};
use crate::fault::Notes;

/// Checks everything but the routes.
pub(super) fn check(checked: &Checked<'_>, notes: &mut Notes) {
    let meta = &checked.site.meta;
    for (index, cookie) in meta.cookies.iter().enumerate() {
        check_cookie(checked, index, cookie, notes);
    }
    if let Some(login) = &meta.login {
        check_login(checked, login, notes);
    }
    let mut note = |field: &str, problem: String| checked.source.fault(notes, field, problem);
    if let Some(file) = &meta.error_page {
        routes::check_template(checked, file.as_str(), "error_page", &mut note);
    }
    for name in meta.headers.keys() {
        if let Some(problem) = routes::header_problem(name) {
            note(&format!("headers.{name}"), problem);
        }
    }
    for (index, pattern) in meta.robots.iter().enumerate() {
        if !pattern.starts_with(['/', '*']) {
            note(&format!("robots[{index}]"), "expected a path that starts with `/`".to_owned());
        }
    }
    if !meta.robots.is_empty() && checked.site.pages.contains_key("/robots.txt") {
        note("robots", "`/robots.txt` is a page already".to_owned());
    }
}

fn check_cookie(checked: &Checked<'_>, index: usize, cookie: &Cookie, notes: &mut Notes) {
    let meta = &checked.site.meta;
    let mut note = |field: &str, problem: String| {
        checked.source.fault(notes, &format!("cookie[{index}].{field}"), problem);
    };
    if meta.cookies[..index].iter().any(|other| other.name == cookie.name) {
        note("name", format!("`{}` is declared twice", cookie.name));
    }
    if meta.login.as_ref().is_some_and(|login| login.cookie == cookie.name) {
        note("name", format!("`{}` is the cookie of the login", cookie.name));
    }
    if cookie.same_site == SameSite::None && !cookie.secure {
        note("same_site", "browsers take `none` only with `secure = true`".to_owned());
    }
}

fn check_login(checked: &Checked<'_>, login: &Login, notes: &mut Notes) {
    let site = checked.site;
    let mut note = |field: &str, problem: String| {
        checked.source.fault(notes, &format!("login.{field}"), problem);
    };
    routes::check_template(checked, login.template.as_str(), "template", &mut note);
    let paths = [("path", Some(&login.path)), ("logout", login.logout.as_ref())];
    for (field, path) in paths.into_iter().filter_map(|(field, path)| Some((field, path?))) {
        if site.pages.contains_key(path)
            || site.meta.redirects.contains_key(path)
            || site.meta.services.iter().any(|service| service.path == *path)
        {
            note(field, format!("`{path}` is already served"));
        }
    }
    if login.logout.as_ref() == Some(&login.path) {
        note("logout", "expected another path than that of the login".to_owned());
    }
    if login.same_site == SameSite::None && !login.secure {
        note("same_site", "browsers take `none` only with `secure = true`".to_owned());
    }
    let names = ["next", "csrf_token"];
    if login.user_field == login.password_field
        || names.contains(&login.user_field.as_str())
        || names.contains(&login.password_field.as_str())
    {
        let problem = "expected two names, neither of them `next` or `csrf_token`";
        note("user_field", problem.to_owned());
    }
    for (index, user) in login.users.iter().enumerate() {
        let same = |name: &str| name.to_lowercase() == user.name.to_lowercase();
        if login.users[..index].iter().any(|other| same(&other.name)) {
            note(&format!("user[{index}].name"), format!("`{}` is there twice", user.name));
        }
        if user.data.contains_key("name") {
            let problem = "`name` is the name that is typed in; use another, such as `display`";
            note(&format!("user[{index}].data.name"), problem.to_owned());
        }
    }
    for (index, pattern) in login.protected.iter().enumerate() {
        let field = format!("protected[{index}]");
        let matcher = Pattern::new(pattern);
        if matcher.matches(&login.path)
            || login.logout.as_ref().is_some_and(|path| matcher.matches(path))
        {
            note(&field, format!("`{pattern}` covers the login itself, which nobody could reach"));
        } else if !all_paths(checked).iter().any(|path| matcher.matches(path)) {
            note(&field, format!("`{pattern}` matches no page and no route"));
        }
    }
}

/// Returns every path of the site, those of routes as written.
fn all_paths(checked: &Checked<'_>) -> Vec<String> {
    super::paths_of(checked.site).chain(checked.site.articles.iter().map(Article::path)).collect()
}
