//! The folders that a session may use.

use super::MainLoop;
use crate::handle::Here;
use std::path::PathBuf;
use tabmux_browser::files::{Quota, Roots};
use tabmux_browser::{Files, OutputFolder};
use tabmux_core::{CallId, SessionId};
use tabmux_protocol::session::{LONGEST_ROOT, MOST_ROOTS};

impl MainLoop {
    /// The folder in which the session's client was started, the folders of its flags, and its root folders.
    pub(super) fn files_of(&self, session: SessionId) -> Files {
        let Some(session) = self.sessions.get(&session) else {
            return Files::new(Roots::default(), self.output.session());
        };
        let roots = Roots {
            working: session.options.folder.clone(),
            named: session.options.roots.clone(),
            claimed: session.roots.clone(),
        };
        Files::new(roots, session.output.clone())
    }

    /// The folder for files of a call without a path.
    pub(super) fn output_of(&self, call: CallId) -> Option<OutputFolder> {
        let session = self.calls.get(&call)?.session;
        let session = self.sessions.get(&session)?;
        Some(session.output.clone())
    }

    /// A named session continues in another folder. Its earlier folders stay allowed, because a call from there may
    /// still run.
    pub(super) fn works_here(&mut self, session: SessionId, here: Here) {
        let Some(session) = self.sessions.get_mut(&session) else {
            return;
        };
        let options = &mut session.options;
        options.folder = here.folder;
        for root in here.roots {
            options.roots.retain(|known| *known != root);
            options.roots.push(root);
        }
        let forgotten = options.roots.len().saturating_sub(MOST_ROOTS);
        options.roots.drain(..forgotten);
        if options.output != here.output {
            options.output.clone_from(&here.output);
            session.output = self.output.session_with(here.output, Quota::default());
        }
    }

    /// They are validated when a file is named, because that needs the file system.
    pub(super) fn client_works_in(&mut self, session: SessionId, roots: Vec<PathBuf>) {
        let Some(session) = self.sessions.get_mut(&session) else {
            return;
        };
        let fits = |root: &PathBuf| root.is_absolute() && root.as_os_str().len() <= LONGEST_ROOT;
        let roots = roots.into_iter().take(MOST_ROOTS).filter(fits);
        session.roots = roots.collect();
    }
}
