// Restores changes that Vite's watcher drops. Of several changes to a file within 50 ms it reports only the first, so
// the page keeps an old version; agents and formatters write a file twice that quickly.
import { stat } from "node:fs/promises";
import { resolve } from "node:path";

const SETTLED_MS = 100;

/** Makes the watcher report a file again if it has changed since its last report. */
export function tellMissedChanges(watcher) {
  const reported = new Map(); // by path: the file's state
  const pending = new Set();

  async function lookAgain(path) {
    pending.delete(path);
    const stats = await stat(path).catch(() => null); // deleted: the watcher reports that
    if (stats !== null && look(stats) !== reported.get(path)) watcher.emit("change", path, stats);
  }

  watcher.on("change", (path, stats) => stats && reported.set(path, look(stats)));
  watcher.on("raw", (_kind, name, { watchedPath }) => {
    for (const path of [watchedPath, resolve(watchedPath, name ?? "")]) {
      if (!reported.has(path) || pending.has(path)) continue;
      pending.add(path);
      setTimeout(lookAgain, SETTLED_MS, path);
    }
  });
}

function look(stats) {
  return `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
}
