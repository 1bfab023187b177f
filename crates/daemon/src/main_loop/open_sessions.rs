//! The open sessions: their clients, options and folders, which the core does not need.

use crate::handle::{CallerFolders, Client};
use crate::options::SessionOptions;
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;
use tabmux_browser::files::{Quota, Roots};
use tabmux_browser::{Files, OutputFolder, OutputRoot, StorageSource};
use tabmux_core::{Mode, Refusal, SessionId};
use tabmux_protocol::BackendEvent;
use tabmux_protocol::session::{LONGEST_ROOT, MOST_ROOTS};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

/// All open sessions.
pub(crate) struct OpenSessions {
    open: HashMap<SessionId, Session>,
    /// Whether several clients share the main loop.
    pub(crate) shared: bool,
    /// The folder for files of sessions without a folder of their own.
    pub(crate) output: OutputRoot,
    /// Folders that are being removed, tracked so that shutdown can wait for them.
    removing: TaskTracker,
}

/// One session.
pub(crate) struct Session {
    notify: mpsc::Sender<BackendEvent>,
    pub(crate) options: Box<SessionOptions>,
    pub(crate) client: Client,
    pub(crate) opened: Instant,
    /// The number of calls it has made.
    pub(crate) calls_made: u64,
    /// The folders of its client.
    roots: Vec<PathBuf>,
    /// The folder for its files without a path.
    pub(crate) output: OutputFolder,
    /// Whether it follows the person, if the person decided that.
    pub(crate) follows: Option<bool>,
    /// Why it was refused, if it was.
    refusal: Option<String>,
}

impl OpenSessions {
    pub(crate) fn new(shared: bool) -> Self {
        Self {
            open: HashMap::new(),
            shared,
            output: OutputRoot::usual(),
            removing: TaskTracker::new(),
        }
    }

    pub(crate) fn get(&self, session: SessionId) -> Option<&Session> {
        self.open.get(&session)
    }

    pub(crate) fn get_mut(&mut self, session: SessionId) -> Option<&mut Session> {
        self.open.get_mut(&session)
    }

    /// All sessions, the oldest first.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (SessionId, &Session)> {
        let mut sessions: Vec<_> = self.open.iter().map(|(id, it)| (*id, it)).collect();
        sessions.sort_by_key(|(id, _)| *id);
        sessions.into_iter()
    }

    /// The sessions that save a login state at their end.
    pub(crate) fn with_state(&self) -> Vec<SessionId> {
        let with = self
            .open
            .iter()
            .filter(|(_, it)| matches!(it.options.storage, Some(StorageSource::Named(_))));
        with.map(|(id, _)| *id).collect()
    }

    /// The session with this public name.
    pub(crate) fn named(&self, name: &str) -> Option<SessionId> {
        let mut sessions = self.open.iter();
        let (id, _) = sessions.find(|(_, known)| known.client.session == name)?;
        Some(*id)
    }

    pub(crate) fn add(
        &mut self,
        session: SessionId,
        options: Box<SessionOptions>,
        client: Client,
        notify: mpsc::Sender<BackendEvent>,
        follows: Option<bool>,
    ) {
        let output = options.given.output.clone();
        let added = Session {
            notify,
            options,
            client,
            opened: Instant::now(),
            calls_made: 0,
            roots: Vec::new(),
            output: self.output.session_with(output, Quota::default()),
            follows,
            refusal: None,
        };
        self.open.insert(session, added);
    }

    /// Removes a closed session, and the folder for its files.
    pub(crate) fn remove(&mut self, session: SessionId) -> Option<Client> {
        let over = self.open.remove(&session)?;
        self.removing.spawn(async move { over.output.end().await });
        Some(over.client)
    }

    /// Sends an event to a session's client. False if its queue is full.
    pub(crate) fn notify(&self, session: SessionId, event: BackendEvent) -> bool {
        let session = self.get(session);
        session.is_none_or(|session| session.notify.try_send(event).is_ok())
    }

    pub(crate) fn mode_of(&self, session: SessionId) -> Mode {
        let session = self.get(session);
        session.map(|it| it.options.mode).unwrap_or_default()
    }

    /// Whether a session follows the user.
    pub(crate) fn is_followed(&self) -> bool {
        let mut sessions = self.open.values();
        sessions.any(|session| session.options.given.follow_user_focus)
    }

    /// How many generated tools a session wants from a page, if any.
    pub(crate) fn generated_for(&self, session: SessionId) -> Option<usize> {
        self.get(session)?.options.generated_tools()
    }

    /// The same, if the session lists them. A fixed list does not: there they are generated when the agent calls
    /// `list_page_tools`.
    pub(crate) fn generated_in_list_of(&self, session: SessionId) -> Option<usize> {
        let generated = self.generated_for(session);
        generated.filter(|_| self.mode_of(session) == Mode::Progressive)
    }
}

/// Sessions over the limit: the agent sees tools, and each call says why it is refused.
impl OpenSessions {
    pub(crate) fn refuse(&mut self, session: SessionId, refusal: &Refusal) {
        tracing::warn!(?session, %refusal, "a session was refused");
        if let Some(known) = self.open.get_mut(&session) {
            known.refusal = Some(refusal.to_string());
        }
    }

    /// Why a session was refused, if it was.
    pub(crate) fn why_refused(&self, session: SessionId) -> Option<&str> {
        self.get(session)?.refusal.as_deref()
    }
}

/// The folders that a session may use.
impl OpenSessions {
    /// The folder in which the session's client was started, the folders of its flags, and its root folders.
    pub(crate) fn files_of(&self, session: SessionId) -> Files {
        let Some(session) = self.get(session) else {
            return Files::new(Roots::default(), self.output.session());
        };
        let roots = Roots {
            working: session.options.given.folder.clone(),
            named: session.options.given.roots.clone(),
            claimed: session.roots.clone(),
        };
        let files = Files::new(roots, session.output.clone());
        match session.options.given.remote {
            true => files.of_remote_client(),
            false => files,
        }
    }

    /// The folder whose paths a session's client must not see, because it is on another machine.
    pub(crate) fn hidden_folder(&self, session: SessionId) -> Option<OutputFolder> {
        let session = self.get(session)?;
        let is_remote = session.options.given.remote;
        is_remote.then(|| session.output.clone())
    }

    /// A named session continues in another folder. Its earlier folders stay allowed, because a call from there may
    /// still run.
    pub(crate) fn continue_in(&mut self, session: SessionId, folders: CallerFolders) {
        let Some(session) = self.open.get_mut(&session) else {
            return;
        };
        let options = &mut session.options.given;
        options.folder = folders.folder;
        for root in folders.roots {
            options.roots.retain(|known| *known != root);
            options.roots.push(root);
        }
        let forgotten = options.roots.len().saturating_sub(MOST_ROOTS);
        options.roots.drain(..forgotten);
        if options.output != folders.output {
            options.output.clone_from(&folders.output);
            session.output = self.output.session_with(folders.output, Quota::default());
        }
    }

    /// A client reports its root folders. They are validated when a file is named, because that needs the file system.
    pub(crate) fn client_works_in(&mut self, session: SessionId, roots: Vec<PathBuf>) {
        let Some(session) = self.open.get_mut(&session) else {
            return;
        };
        let fits = |root: &PathBuf| root.is_absolute() && root.as_os_str().len() <= LONGEST_ROOT;
        let roots = roots.into_iter().take(MOST_ROOTS).filter(fits);
        session.roots = roots.collect();
    }

    /// Waits for folders that are being removed, but not for long.
    pub(crate) async fn finish_removing(&self, limit: Duration) {
        self.removing.close();
        let _ = tokio::time::timeout(limit, self.removing.wait()).await;
    }
}
