// While the app is being built, its page speaks with the page around it. No part of the finished version.
if (process.env.NODE_ENV === "development") require("./outlast/bridge.js");
