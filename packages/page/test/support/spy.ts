/** Listens to what a page and its worker say to each other. Give it to the application as its `script`. */

/** Fills `heard` and `said`, and keeps the port of the worker as `port`. */
export const SPY = `
  Object.assign(window, { heard: [], said: [] });
  const { postMessage } = MessagePort.prototype;
  MessagePort.prototype.postMessage = function (message, ...rest) {
    window.said.push(message);
    return postMessage.call(this, message, ...rest);
  };
  const { set } = Object.getOwnPropertyDescriptor(MessagePort.prototype, 'onmessage');
  Object.defineProperty(MessagePort.prototype, 'onmessage', {
    set(listener) {
      window.port = this;
      set.call(this, (event) => {
        window.heard.push(event.data);
        listener?.(event);
      });
    },
  });`;

/** The messages of a type in what a page `heard` or `said`, as an expression for the page. */
export const ofType = (list: 'heard' | 'said', type: string): string => `${list}.filter((message) => message.type === '${type}')`;
