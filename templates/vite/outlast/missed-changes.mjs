// Changes that Vite's watcher drops. Of several changes to a file within 50 ms it tells the first, and leaves the page
// with that one for good; code that writes a file and writes it again, as agents and formatters do, is that quick.
import { stat } from "node:fs/promises";
import { resolve } from "node:path";

const SETTLED_MS = 100;

/** Have the watcher tell of a file again that looks otherwise than when it told of it last. */
export function tellMissedChanges(watcher) {
  const told = new Map(); // by path: what the file looked like
  const pending = new Set();

  async function lookAgain(path) {
    pending.delete(path);
    const stats = await stat(path).catch(() => null); // gone: the watcher tells of that
    if (stats !== null && look(stats) !== told.get(path)) watcher.emit("change", path, stats);
  }

  watcher.on("change", (path, stats) => stats && told.set(path, look(stats)));
  watcher.on("raw", (_kind, name, { watchedPath }) => {
    for (const path of [watchedPath, resolve(watchedPath, name ?? "")]) {
      if (!told.has(path) || pending.has(path)) continue;
      pending.add(path);
      setTimeout(lookAgain, SETTLED_MS, path);
    }
  });
}

function look(stats) {
  return `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
}
