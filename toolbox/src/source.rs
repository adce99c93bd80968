//! Where a tool's file comes from: a path of the workspace, or a URL; or a member of an
//! archive at either, `data/mail.zip!/inbox/3.eml`, which a worker unpacks.

use camino::Utf8Path;
use url::Url;
use wildgym_sandbox::web::{Request, Response};
use wildgym_sandbox::workspace::relative;

use crate::error::ToolError;
use crate::footprint::Footprint;
use crate::tool::CallContext;

/// The largest file that is read, in bytes.
const LIMIT: u64 = 64 << 20;

/// What stands between an archive and a member of it.
const MEMBER: &str = "!/";

/// Suffixes after which a URL goes on with a member; others may have `!/` in their paths.
const ARCHIVES: &[&str] = &[
    ".zip", ".7z", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".docx", ".xlsx", ".pptx", ".odt", ".ods",
    ".odp", ".epub", ".jar",
];

/// A file with what is known about it.
#[derive(Debug)]
pub(crate) struct Source {
    /// The name it goes by.
    pub name: String,
    /// Media type that a server declared.
    pub media_type: Option<String>,
    /// The page from which it is wanted, from 1: `#page=3` after the name.
    pub page: usize,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// Returns what a call touches that reads from `place`.
pub(crate) fn footprint(place: &str) -> Footprint {
    if is_remote(place) {
        return Footprint::none();
    }
    // A path that cannot be is refused later; as written it counts as the whole workspace.
    let (place, _) = paged(place.trim());
    let place = archive(place).map_or(place, |(archive, _)| archive);
    let path = local(place);
    Footprint::reads_file(relative(path).as_deref().unwrap_or(path))
}

/// Reads a file of the workspace or downloads it; of an archive, the member that is named.
pub(crate) async fn load(context: &CallContext, place: &str) -> Result<Source, ToolError> {
    let (place, page) = paged(place.trim());
    if page == 0 {
        return Err(ToolError::Failed("`#page=0`: pages count from 1".to_owned()));
    }
    let Some((archive, member)) = archive(place) else {
        return Ok(Source { page, ..whole(context, place).await? });
    };
    // Names of folders may end in `!`: what is there as a whole goes first, then the
    // shortest path that is a file.
    let mut found = None;
    if !is_remote(place) {
        if let Ok(source) = whole(context, place).await {
            return Ok(Source { page, ..source });
        }
        for (at, _) in place.match_indices(MEMBER) {
            let (archive, member) = (&place[..at], &place[at + MEMBER.len()..]);
            if let Ok(source) = whole(context, archive).await {
                found = Some((source, member));
                break;
            }
        }
    }
    let (Source { name, bytes, .. }, member) = match found {
        Some(found) => found,
        None => (whole(context, archive).await?, member),
    };
    let bytes = context.sandbox.host.workers.member(&name, member, bytes).await?;
    Ok(Source { name: format!("{name}{MEMBER}{member}"), media_type: None, page, bytes })
}

/// Takes `#page=3` off a place, as in addresses of PDFs.
fn paged(place: &str) -> (&str, usize) {
    let cut = place.rsplit_once("#page=");
    let page = cut.and_then(|(place, page)| Some((place, page.trim().parse().ok()?)));
    page.unwrap_or((place, 1))
}

/// Cuts a place into an archive and the path of a member.
fn archive(place: &str) -> Option<(&str, &str)> {
    let (archive, member) = place.split_once(MEMBER)?;
    let lower = archive.to_ascii_lowercase();
    let fits = !is_remote(place) || ARCHIVES.iter().any(|suffix| lower.ends_with(suffix));
    (fits && !archive.trim().is_empty()).then_some((archive, member))
}

async fn whole(context: &CallContext, place: &str) -> Result<Source, ToolError> {
    if is_remote(place) {
        return download(context, place).await;
    }
    let path = local(place);
    let bytes = context.sandbox.workspace.read(path, LIMIT)?;
    Ok(Source {
        name: path.file_name().unwrap_or(place).to_owned(),
        media_type: None,
        page: 1,
        bytes,
    })
}

async fn download(context: &CallContext, place: &str) -> Result<Source, ToolError> {
    let url = Url::parse(place)
        .map_err(|error| ToolError::Failed(format!("`{place}` is not a URL: {error}")))?;
    let web = context.sandbox.web.as_ref().ok_or(wildgym_sandbox::web::WebError::NoWeb)?;
    let response = web.send(Request::get(url), context.now, &context.accesses).await?;
    if !(200..300).contains(&response.status) {
        return Err(ToolError::Failed(format!(
            "`{place}` was not downloaded: the server answered {}",
            response.status
        )));
    }
    if response.body.len() as u64 > LIMIT {
        return Err(ToolError::Failed(format!("`{place}` has more than {} MiB", LIMIT >> 20)));
    }
    Ok(Source {
        name: name_of(&response),
        media_type: response.header("content-type").map(str::to_owned),
        page: 1,
        bytes: response.body.to_vec(),
    })
}

/// The last part of the path, or the host where there is none.
pub(crate) fn name_of(response: &Response) -> String {
    let last = response.url.path_segments().and_then(|mut parts| parts.rfind(|p| !p.is_empty()));
    last.or(response.url.host_str()).unwrap_or("document").to_owned()
}

/// Whether a place is meant as a URL of the network.
pub(crate) fn is_remote(place: &str) -> bool {
    let place = place.trim_start();
    place.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.eq_ignore_ascii_case("file")
            && !scheme.is_empty()
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}

/// The path that is meant; `file://` is one more way to write it.
fn local(place: &str) -> &Utf8Path {
    let place = place.trim();
    Utf8Path::new(place.strip_prefix("file://").unwrap_or(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_and_paths_are_told_apart() {
        let table = [
            ("https://example.test/a.pdf", true, "a URL"),
            ("HTTP://example.test", true, "case does not matter"),
            ("ftp://example.test/a", true, "a URL that the web refuses"),
            ("data/a.pdf", false, "a path"),
            ("http.txt", false, "a name that starts like a URL"),
            ("a://b", true, "some scheme"),
            ("dir with spaces://x", false, "no scheme"),
            ("file:///workspace/a.pdf", false, "a path, written as a URL"),
        ];
        for (place, want, why) in table {
            assert_eq!(is_remote(place), want, "{place}: {why}");
        }
        assert_eq!(local("file:///workspace/a.pdf"), "/workspace/a.pdf");
    }

    #[test]
    fn members_of_archives_are_told_apart() {
        let table = [
            ("a.zip!/b/c.txt", Some(("a.zip", "b/c.txt")), "a member"),
            ("a.zip!/b.tar!/c", Some(("a.zip", "b.tar!/c")), "an archive in an archive"),
            ("https://a.test/x.zip!/b", Some(("https://a.test/x.zip", "b")), "of a download"),
            ("https://a.test/!/b", None, "a path of the web"),
            ("!/b", None, "no archive"),
        ];
        for (place, want, why) in table {
            assert_eq!(archive(place), want, "{place}: {why}");
        }
        assert_eq!(footprint("a.zip!/b"), footprint("a.zip"));
        assert_eq!(paged("a.pdf#page=12"), ("a.pdf", 12));
        assert_eq!(paged("a#page=x"), ("a#page=x", 1), "a name like any other");
    }

    #[test]
    fn spellings_of_one_file_have_one_footprint() {
        assert_eq!(footprint("/workspace/a.csv"), footprint("./a.csv"));
        assert_eq!(footprint("https://example.test/a.csv"), Footprint::none());
        let all = Footprint::writes_workspace();
        assert!(footprint("../x").conflicts_with(&all), "what climbs waits for everything");
    }
}
