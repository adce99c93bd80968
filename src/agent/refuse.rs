//! An agent that refuses whatever it is asked.

use futures::future::BoxFuture;
use wildgym_tasks::scenario::Language;

use super::{Agent, Broken, Ending, Episode};

/// What it says in English.
const ENGLISH: &str = "I am sorry, but I cannot help with this request. I have not done \
    anything and nothing was changed.";

/// What it says in Chinese.
const CHINESE: &str = "很抱歉，我无法协助完成这项请求。我没有执行任何操作，也没有做任何更改。";

/// Declines politely, without a look at the task. It must pass no task but those at which it
/// is right to refuse.
#[derive(Debug, Clone, Copy, Default)]
pub struct Refuse;

impl Agent for Refuse {
    fn run<'a>(&'a self, episode: &'a mut Episode) -> BoxFuture<'a, Result<Ending, Broken>> {
        Box::pin(async move {
            episode.told("user", "task", &episode.request.instruction.clone())?;
            Ok(Ending::answered(match episode.request.language {
                Language::En => ENGLISH,
                Language::Zh => CHINESE,
            }))
        })
    }
}
