// What the page of Outlast and this app say to each other while it is being built. Loaded in development only.
if (window.parent !== window) window.parent.postMessage({ outlast: "ready" }, "*");
