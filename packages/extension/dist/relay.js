"use strict";
(() => {
  // src/relay-name.ts
  var RELAY = "relay";

  // src/relay.ts
  addEventListener("message", ({ source, data, ports: [port] }) => {
    if (source !== window || data !== CALL || !port) return;
    let link;
    try {
      link = chrome.runtime.connect({ name: RELAY });
    } catch {
      return;
    }
    const end = () => {
      port.postMessage(null);
      port.close();
      link.disconnect();
    };
    port.onmessage = ({ data: text }) => {
      if (typeof text === "string") link.postMessage(text);
    };
    link.onMessage.addListener((text) => port.postMessage(text));
    link.onDisconnect.addListener(end);
    addEventListener("pagehide", end, { once: true });
    port.postMessage("");
  });
  var CALL = "tabmux-relay";
})();
