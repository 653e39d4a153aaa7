// Adds the marks and the script to pages of Vite's dev server. Production builds are unchanged.
import { createRequire } from "node:module";

import { tellMissedChanges } from "./missed-changes.mjs";

const { marked } = createRequire(import.meta.url)("./marks.cjs");

export default function outlast() {
  let root = process.cwd();
  return {
    name: "outlast",
    enforce: "pre",
    apply: "serve",
    configResolved(config) {
      root = config.root;
    },
    configureServer(server) {
      tellMissedChanges(server.watcher);
    },
    transform(code, id) {
      const file = id.split("?")[0];
      return /\.[jt]sx$/.test(file) ? marked(code, file, root) : null;
    },
    transformIndexHtml() {
      return [{ tag: "script", attrs: { type: "module", src: "/outlast/bridge.js" }, injectTo: "head-prepend" }];
    },
  };
}
