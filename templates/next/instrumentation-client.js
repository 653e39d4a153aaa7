// In development, the app's page talks to the Outlast page around it. Not part of the production build.
if (process.env.NODE_ENV === "development") require("./outlast/bridge.js");
