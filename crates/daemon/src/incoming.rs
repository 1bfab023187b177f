//! Calls before they reach the main loop: the session's own task measures and parses their arguments.
//!
//! All pending calls share a memory budget, so that arguments of unanswered calls do not fill the memory.

use crate::catalogue;
use crate::convert::{self, Parsed, Rejected, Role};
use crate::main_loop::Answer;
use crate::options::SessionOptions;
use sha2::{Digest as _, Sha256};
use std::sync::Arc;
use tabmux_core::{CallKind, TabRef, ToolName};
use tabmux_protocol::wire::LONGEST_ARGUMENTS;
use tabmux_protocol::{CallReply, CallRequest, RequestId};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A call with parsed arguments, until it runs.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) request: CallRequest,
    pub(crate) read: ParsedArguments,
    pub(crate) digest: Digest,
    pub(crate) room: Reserved,
    pub(crate) answer: Answer,
}

/// The parsed arguments of a call.
#[derive(Debug)]
pub(crate) struct ParsedArguments {
    /// Parsed for a tabmux tool.
    own: Result<Parsed, Rejected>,
    /// Parsed for a page tool of this name, if there can be one.
    page: Option<Result<Parsed, Rejected>>,
    /// The tab whose tools the call lists.
    pub(crate) lists_tools_of: Option<TabRef>,
}

/// A digest that identifies arguments without keeping them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digest([u8; 32]);

/// The budget for arguments of one session's calls, and the one for all sessions.
#[derive(Clone, Debug)]
pub(crate) struct ArgumentBudget {
    session: Arc<Semaphore>,
    all: Arc<Semaphore>,
}

/// A part of the budget, returned when this is dropped.
#[derive(Debug)]
pub(crate) struct Reserved {
    _permits: [OwnedSemaphorePermit; 2],
}

impl Incoming {
    pub(crate) fn id(&self) -> &RequestId {
        &self.request.request_id
    }

    /// Sends the reply.
    pub(crate) fn answer(self, reply: CallReply) {
        let _ = self.answer.send(Ok(reply));
    }
}

impl ParsedArguments {
    /// Parses arguments. Long ones are parsed outside of the runtime's worker threads.
    pub(crate) async fn read(
        request: CallRequest,
        options: &Arc<SessionOptions>,
    ) -> Option<(CallRequest, Self, Digest)> {
        let read = |request: CallRequest, options: &SessionOptions| {
            let (read, digest) = (Self::now(&request, options), Digest::of(&request));
            (request, read, digest)
        };
        if request.arguments.get().len() <= LITTLE {
            return Some(read(request, options));
        }
        let _turn = TURN.acquire().await.ok()?;
        let options = Arc::clone(options);
        let work = tokio::task::spawn_blocking(move || read(request, &options));
        work.await.ok()
    }

    fn now(request: &CallRequest, options: &SessionOptions) -> Self {
        let name = ToolName::parse(&request.tool);
        let name = name.filter(|name| catalogue::info(*name, options.mode, false).is_none());
        Self {
            own: convert::parse(request, options),
            page: name.map(|name| convert::page_tool(name, &request.arguments)),
            lists_tools_of: (request.tool == "list_page_tools")
                .then(|| convert::named_tab(&request.arguments))
                .flatten(),
        }
    }

    /// The arguments for the tool that is called, which is a page tool or a tabmux tool.
    pub(crate) fn for_tool(self, is_of_page: bool) -> Result<Parsed, Rejected> {
        match self.page {
            Some(page) if is_of_page => page,
            _ => self.own,
        }
    }

    /// Notes what the call is.
    pub(crate) fn has_role(&mut self, role: Role) {
        let parsed = [Some(&mut self.own), self.page.as_mut()];
        for parsed in parsed.into_iter().flatten().flatten() {
            parsed.extras.role = role;
        }
    }

    /// The call of a page action is for this tab, in a session whose calls name none.
    pub(crate) fn stays_in(&mut self, wanted: &TabRef) {
        if let Ok(parsed) = &mut self.own
            && let CallKind::Page { tab, .. } = &mut parsed.kind
        {
            *tab = Some(wanted.clone());
        }
    }

    /// What is wrong with the arguments, if anything is. Those of page tools are checked by their own schema.
    pub(crate) fn fault(&self, is_of_page: bool) -> Option<String> {
        let parsed = match &self.page {
            Some(page) if is_of_page => page,
            _ => &self.own,
        };
        match parsed {
            Ok(_) => None,
            Err(Rejected::UnknownTool) => Some("there is no such tool".to_owned()),
            Err(Rejected::Arguments(text)) => Some(text.clone()),
        }
    }

    /// Rebuilds this for a call that has to wait.
    pub(crate) fn again(parsed: Parsed, is_of_page: bool) -> Self {
        let (own, page) = match is_of_page {
            true => (Err(Rejected::UnknownTool), Some(Ok(parsed))),
            false => (Ok(parsed), None),
        };
        Self {
            own,
            page,
            lists_tools_of: None,
        }
    }
}

impl Digest {
    pub(crate) fn of(request: &CallRequest) -> Self {
        Self(Sha256::digest(request.arguments.get()).into())
    }
}

impl Default for ArgumentBudget {
    fn default() -> Self {
        Self {
            session: Arc::new(Semaphore::new(OF_SESSION)),
            all: Arc::new(Semaphore::new(OF_ALL)),
        }
    }
}

impl ArgumentBudget {
    /// A budget for another session.
    pub(crate) fn for_session(&self) -> Self {
        Self {
            session: Arc::new(Semaphore::new(OF_SESSION)),
            all: Arc::clone(&self.all),
        }
    }

    /// Reserves memory for a call's arguments, or says why it cannot.
    pub(crate) fn take(&self, arguments: &str) -> Result<Reserved, String> {
        if arguments.len() > LONGEST_ARGUMENTS {
            return Err(TOO_LONG.to_owned());
        }
        let values = values_in(arguments);
        if values > MOST_VALUES {
            return Err(format!(
                "The call was not made: its arguments have {values} values; at most {MOST_VALUES} are allowed. Pass \
                 less, or pass a file name."
            ));
        }
        let bytes = u32::try_from(arguments.len() + values * VALUE_BYTES).unwrap_or(u32::MAX);
        let take = |room: &Arc<Semaphore>, why: &str| {
            let taken = Arc::clone(room).try_acquire_many_owned(bytes);
            taken.map_err(|_| why.to_owned())
        };
        Ok(Reserved {
            _permits: [
                take(&self.session, SESSION_FULL)?,
                take(&self.all, ALL_FULL)?,
            ],
        })
    }
}

/// Counts the values in a JSON text, or slightly more: keys count, too.
fn values_in(json: &str) -> usize {
    let (mut values, mut in_string, mut escaped) = (1, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b',' | b':' | b'[' | b'{' if !in_string => values += 1,
            _ => {}
        }
    }
    values
}

/// Long arguments are parsed one call at a time.
static TURN: Semaphore = Semaphore::const_new(1);
/// This much is parsed in less than a millisecond.
const LITTLE: usize = 16 * 1_024;
const MOST_VALUES: usize = 100_000;
/// The memory of a parsed value besides its text.
const VALUE_BYTES: usize = 64;
const OF_SESSION: usize = 16 * 1_024 * 1_024;
const OF_ALL: usize = 32 * 1_024 * 1_024;
const TOO_LONG: &str =
    "The call was not made: its arguments have more than 4 MiB. Pass less, or pass a file name.";
const SESSION_FULL: &str = "The call was not made: the pending calls of this session have reached the memory limit for \
                            arguments. Wait for a reply, then call again.";
const ALL_FULL: &str = "The call was not made: the pending calls of all sessions have reached the memory limit for \
                        arguments. Call again later.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_of_strings() {
        assert_eq!(values_in("7"), 1);
        assert_eq!(values_in(r#"{"a":[0,0,0],"b":"x,y:[{\",\\"}"#), 8);
    }

    #[test]
    fn arguments_of_a_session_and_of_all_have_their_bounds() {
        let all = ArgumentBudget::default();
        let [one, two, three] = [all.for_session(), all.for_session(), all.for_session()];
        let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(4_000_000));
        let take = |room: &ArgumentBudget| room.take(&long);
        let mut held: Vec<_> = (0..4).map(|_| take(&one).unwrap()).collect();
        assert_eq!(take(&one).unwrap_err(), SESSION_FULL);
        held.extend((0..4).map(|_| take(&two).unwrap()));
        assert_eq!(take(&three).unwrap_err(), ALL_FULL);
        held.pop();
        assert!(take(&three).is_ok());
        let many = format!("[{}0]", "0,".repeat(MOST_VALUES));
        assert!(three.take(&many).unwrap_err().contains("at most 100000"));
        assert_eq!(
            all.take(&"x".repeat(LONGEST_ARGUMENTS + 1)).unwrap_err(),
            TOO_LONG
        );
        let small = three.take("[0,0]").unwrap();
        assert_eq!(small._permits[0].num_permits(), 5 + 3 * VALUE_BYTES);
    }
}
