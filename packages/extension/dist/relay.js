"use strict";
(() => {
  // src/relay-terms.ts
  var RELAY = "relay";
  var LONGEST = 10 * 1024 * 1024;

  // src/relay.ts
  var open = 0;
  addEventListener("message", ({ source, data, ports: [port] }) => {
    if (source !== window || data !== CALL || !port || open >= MOST) return;
    let link;
    try {
      link = chrome.runtime.connect({ name: RELAY });
    } catch {
      return;
    }
    open++;
    let isAdmitted = false;
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      removeEventListener("pagehide", end);
      link.disconnect();
      if (isAdmitted) {
        port.postMessage(null);
        port.close();
      }
      setTimeout(() => open--, PAUSE);
    };
    const carry = ({ data: text }) => {
      if (typeof text !== "string") return;
      if (text.length > LONGEST) end();
      else link.postMessage(text);
    };
    link.onMessage.addListener((text) => {
      isAdmitted = true;
      port.onmessage ??= carry;
      port.postMessage(text);
    });
    link.onDisconnect.addListener(end);
    port.addEventListener("close", end);
    addEventListener("pagehide", end);
  });
  var CALL = "tabmux-relay";
  var MOST = 4;
  var PAUSE = 1e3;
})();
