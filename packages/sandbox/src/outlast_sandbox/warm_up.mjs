import { spawn } from "node:child_process";
import { get } from "node:http";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
const { command, pages, files, port, readyS, endS } = JSON.parse(process.argv.at(-1));
const origin = `http://127.0.0.1:${port}`;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
for (const [path, text] of Object.entries(files)) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
// In a group of its own: dev servers have children, and all of them must end.
const server = spawn("sh", ["-c", command], { detached: true, stdio: ["ignore", "inherit", "inherit"] });
const ended = new Promise((done) => server.once("exit", done));
let over = false;
ended.then(() => (over = true));
const kill = (signal) => { try { process.kill(-server.pid, signal); } catch {} };
// Each request has a connection of its own: one that stayed open would keep the server from ending.
const ask = (url) => new Promise((done, fail) => {
  get(url, { agent: false }, (answer) => {
    let text = "";
    answer.setEncoding("utf8").on("data", (more) => (text += more)).on("error", fail);
    answer.on("end", () => done({ status: answer.statusCode, type: answer.headers["content-type"] ?? "", text }));
  }).on("error", fail);
});
async function page(path, until) {
  for (;;) {
    if (over) throw new Error("the dev server ended");
    const answer = await ask(origin + path).catch((error) => ({ error }));
    if (answer.status === 200) return answer.text;
    if (answer.status) throw new Error(`${path} answered ${answer.status}: ${answer.text.slice(0, 2000)}`);
    if (Date.now() > until) throw answer.error;
    await sleep(100);
  }
}
const inPage = /(?:src|href)="([/.][^"\s]*)"/g;
const inScript = /(?:from|import)\s*\(?\s*"([/.][^"\s]*)"/g;
async function fetchAll(text, names, base, seen, depth) {
  const found = [...text.matchAll(names)]
    .map((match) => new URL(match[1].replaceAll("&amp;", "&"), base))
    .filter((url) => url.origin === origin && !seen.has(url.href));
  for (const url of found) seen.add(url.href);
  await Promise.all(found.map(async (url) => {
    const { type, text } = await ask(url);
    if (depth > 0 && /javascript/.test(type)) await fetchAll(text, inScript, url, seen, depth - 1);
  }));
}
let failure;
try {
  const until = Date.now() + readyS * 1000;
  const seen = new Set();
  for (const path of pages) await fetchAll(await page(path, until), inPage, origin + path, seen, 4);
  console.log(`warmed with ${pages.length} pages and ${seen.size} files`);
  await sleep(1500);
} catch (error) {
  failure = error;
}
for (const path of Object.keys(files)) rmSync(dirname(path), { recursive: true });
kill("SIGTERM");
await Promise.race([ended, sleep(endS * 1000)]);
await sleep(300);
kill("SIGKILL");
if (failure) console.error(failure.message);
process.exit(failure ? 1 : 0);
