//! Where a session's files may be.

use super::MainLoop;
use std::path::PathBuf;
use tabmux_browser::{Files, files};
use tabmux_core::SessionId;
use tabmux_protocol::session::{LONGEST_ROOT, MOST_ROOTS};

impl MainLoop {
    /// The folder that the session's client was started in, those that its flags name, and those that
    /// it says it works in.
    pub(super) fn files_of(&self, session: SessionId) -> Files {
        let Some(session) = self.sessions.get(&session) else {
            return Files::new(None, &[]);
        };
        let roots = [&session.options.roots[..], &session.roots[..]].concat();
        Files::new(session.options.folder.clone(), &roots)
    }

    /// A client that works everywhere works nowhere: that is what one says that has no project open.
    pub(super) fn client_works_in(&mut self, session: SessionId, roots: Vec<PathBuf>) {
        let Some(session) = self.sessions.get_mut(&session) else {
            return;
        };
        let fits = |root: &PathBuf| {
            root.is_absolute()
                && root.as_os_str().len() <= LONGEST_ROOT
                && !files::is_everywhere(root)
        };
        let roots = roots.into_iter().take(MOST_ROOTS).filter(fits);
        session.roots = roots.collect();
    }
}
