/**
 * Makes the documents of this origin report pending changes of their tools. Runs in our isolated world, and returns
 * whether the browser has its own WebMCP.
 * @param {string} ask
 * @param {string} answer
 */
async function flushTools(ask, answer) {
  /** @type {Window[]} */
  const views = [];
  /** @param {Window} view */
  const visit = (view) => {
    if (views.length >= 100) return;
    views.push(view);
    for (let i = 0; i < view.length; i++) visit(view[i]);
  };
  visit(window);
  // A frame or an element of the page with one of these names would be found instead.
  const { addEventListener, removeEventListener, dispatchEvent } = EventTarget.prototype;
  /** @param {Window} view */
  const flush = (view) =>
    new Promise((done) => {
      addEventListener.call(view, answer, done, { once: true });
      // Our script in the page cancels the event if it has something to report.
      if (!dispatchEvent.call(view, new Event(ask, { cancelable: true }))) return;
      removeEventListener.call(view, answer, done);
      done(undefined);
    });
  // Frames of other origins fail at once.
  await Promise.allSettled(views.map(flush));
  return isSecureContext && "modelContext" in Document.prototype;
}
