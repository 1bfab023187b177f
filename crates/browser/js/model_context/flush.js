/**
 * Makes the documents of this origin report pending changes of their tools. Runs in our isolated world, and answers
 * whether the browser has WebMCP of its own.
 */
async (ask, answer) => {
  const views = [];
  const visit = (view) => {
    if (views.length >= 100) return;
    views.push(view);
    for (let i = 0; i < view.length; i++) visit(view[i]);
  };
  visit(window);
  // An element of the page may have one of these names.
  const { addEventListener, removeEventListener, dispatchEvent } = EventTarget.prototype;
  const flush = (view) =>
    new Promise((done) => {
      addEventListener.call(view, answer, done, { once: true });
      // Our script in the page cancels the event if it has something to report.
      if (!dispatchEvent.call(view, new Event(ask, { cancelable: true }))) return;
      removeEventListener.call(view, answer, done);
      done();
    });
  // Frames of other origins fail at once.
  await Promise.allSettled(views.map(flush));
  return isSecureContext && "modelContext" in Document.prototype;
}
