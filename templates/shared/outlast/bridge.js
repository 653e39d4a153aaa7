// The protocol between the Outlast page and this app in development: chosen elements, previews, themes and errors. Not
// part of the production build.
import { createRest } from "./at-rest.js";
import { capture } from "./capture.js";
import { describe, labelOf, marked, pathOf, withMark } from "./elements.js";
import { measure } from "./measure.js";
import { createOverlay } from "./overlay.js";
import { createPreviews } from "./previews.js";
import { palette, showTheme } from "./theme.js";

const VERSION = 2; // 2: answers `measure`
const ONCE = Symbol.for("outlast.bridge");
const STOPPED = ["pointerdown", "pointerup", "mousedown", "mouseup", "dblclick", "auxclick", "submit", "dragstart"];
// Events of hover effects. They are blocked while the user edits, so that elements look as they do without a pointer.
const POINTED = ["pointerover", "pointerout", "pointerenter", "mouseover", "mouseout", "mouseenter"];

function start() {
  let parentOrigin = null;
  let editing = false;
  let chosen = null; // the element, and the marks it had
  let hovered = null;
  let last = "";
  let early = []; // errors before the first listener
  const overlay = createOverlay();
  const rest = createRest();
  const previews = createPreviews((from) => send("moved", from));

  function send(type, data = {}) {
    if (parentOrigin) window.parent.postMessage({ outlast: type, v: VERSION, ...data }, parentOrigin);
  }

  function choose(element, why) {
    chosen = element && { element, loc: element.dataset.loc, use: element.dataset.use, at: placeOf(element) };
    overlay.choose(element);
    tell(why);
  }

  function tell(why) {
    rest.refresh();
    const element = chosen && describe(chosen.element, previews);
    const said = JSON.stringify(element);
    if (why === "update" && said === last) return;
    last = said;
    send("element", { element, why });
  }

  function hover(element) {
    if (element === hovered) return;
    hovered = element;
    rest.refresh();
    overlay.hover(element);
    send("hover", { label: element && labelOf(element) });
  }

  // --- user input in the page

  function onMove(event) {
    if (editing) hover(marked(event.composedPath()[0]));
  }

  function onClick(event) {
    if (!editing) return;
    stop(event);
    window.focus(); // so that this page gets the arrow keys
    const element = marked(event.composedPath()[0]);
    if (element) choose(element, "click");
  }

  function stop(event) {
    if (!editing) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  function onKey(event) {
    if (!editing || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowUp: "parent", ArrowDown: "child", ArrowLeft: "previous", ArrowRight: "next" }[event.key];
    if (event.key === "Escape") {
      if (chosen) choose(null, "key");
      else send("leave");
    } else if (!step || !chosen) {
      return;
    } else {
      const next = stepFrom(chosen.element, step);
      if (next) {
        choose(next, "key");
        next.scrollIntoView({ block: "nearest", inline: "nearest" });
      }
    }
    stop(event);
  }

  // --- the page changes: hot reload, scripts, sizes

  function onChange() {
    previews.refresh();
    if (chosen && !chosen.element.isConnected) {
      const found = chosen.loc ? withMark("loc", chosen.loc) : withMark("use", chosen.use);
      const element = found[Math.min(chosen.at, found.length - 1)];
      if (element) choose(element, "update");
      else choose(null, "update");
    } else if (chosen) {
      choose(chosen.element, "update");
    }
    overlay.place();
  }

  const watcher = new MutationObserver(soon(onChange));

  function setEditing(on, scale) {
    overlay.scale(scale);
    if (on === editing) return;
    editing = on;
    if (on) {
      overlay.show();
      rest.start();
      watcher.observe(document.documentElement, {
        subtree: true,
        childList: true,
        attributes: true,
        characterData: true,
      });
      const { tokens, dark } = palette();
      send("palette", { tokens, dark });
    } else {
      watcher.disconnect();
      hover(null);
      choose(null, "command");
      overlay.hide();
      rest.stop();
    }
  }

  // --- commands of the page around

  const answers = {
    hello: () => {
      send("ready", { path: location.pathname });
      for (const report of early) send("error", report);
      early = [];
    },
    edit: ({ on, scale }) => setEditing(on === true, Number(scale) || 1),
    select: (wish) => {
      const element = wished(chosen, wish);
      if (wish.clear) choose(null, "command");
      else if (element) choose(element, "command");
      if (element && !wish.clear) element.scrollIntoView({ block: "nearest", inline: "nearest" });
    },
    previews: ({ items, kept }) => {
      previews.show(Array.isArray(items) ? items : [], Array.isArray(kept) ? kept : []);
      overlay.place();
      if (chosen) tell("update");
    },
    theme: ({ tokens }) => {
      showTheme(tokens);
      const { tokens: shown, dark } = palette();
      send("palette", { tokens: shown, dark });
    },
    measure: (wish) => {
      const waiting = watcher.takeRecords();
      const found = Array.isArray(wish.checks) ? measure(wish, previews) : [];
      watcher.takeRecords(); // measuring left the page unchanged
      if (waiting.length > 0) onChange();
      send("measured", { id: wish.id, found });
    },
    capture: ({ id }) => chosen && send("captured", { id, ...capture(chosen.element) }),
  };

  function onMessage(event) {
    if (event.source !== window.parent || typeof event.data !== "object" || event.data === null) return;
    const around = location.ancestorOrigins?.[0];
    if (around && around !== "null" && event.origin !== around) return;
    if (parentOrigin && event.origin !== parentOrigin) return;
    const answer = Object.hasOwn(answers, event.data.outlast) ? answers[event.data.outlast] : null;
    if (!answer) return;
    parentOrigin = event.origin;
    answer(event.data);
  }

  function onError(event) {
    const error = event.reason ?? event.error;
    const message = String(error?.message ?? event.message ?? error ?? "").slice(0, 2000);
    if (!message || /ResizeObserver loop/.test(message)) return;
    const report = {
      kind: event.type === "error" ? "error" : "rejection",
      message,
      source: String(event.filename ?? ""),
      line: event.lineno ?? 0,
      stack: String(error?.stack ?? "").slice(0, 4000),
    };
    if (parentOrigin) send("error", report);
    else if (early.length < 20) early.push(report);
  }

  window.addEventListener("message", onMessage);
  window.addEventListener("error", onError);
  window.addEventListener("unhandledrejection", onError);
  window.addEventListener("pointermove", onMove, { capture: true, passive: true });
  document.documentElement.addEventListener("pointerleave", () => hover(null));
  for (const type of ["transitionend", "transitioncancel"])
    document.addEventListener(
      type,
      soon(() => chosen && tell("update")),
      true,
    );
  window.addEventListener("click", onClick, true);
  for (const type of [...STOPPED, ...POINTED]) window.addEventListener(type, stop, true);
  window.addEventListener("keydown", onKey, true);
  for (const type of ["scroll", "resize"])
    window.addEventListener(
      type,
      soon(() => overlay.place()),
      true,
    );
  // Reports only that the script is ready: the page's headers decide who may frame it.
  window.parent.postMessage({ outlast: "ready", v: VERSION, path: location.pathname, fresh: true }, "*");
}

/** The index of an element among those with its mark. */
function placeOf(element) {
  const { loc, use } = element.dataset;
  return Math.max(0, (loc ? withMark("loc", loc) : withMark("use", use)).indexOf(element));
}

function wished(chosen, { at, step, aim, mark }) {
  if (typeof mark === "string") return withMark(aim === "use" ? "use" : "loc", mark)[0];
  if (!chosen) return null;
  if (typeof at === "number") return pathOf(chosen.element)[at];
  return stepFrom(chosen.element, step);
}

function stepFrom(element, step) {
  if (step === "parent") return marked(element.parentElement);
  if (step === "child") return element.querySelector("[data-loc],[data-use]");
  const parent = marked(element.parentElement);
  const all = [...(parent ?? document).querySelectorAll("[data-loc],[data-use]")];
  const beside = all.filter((one) => marked(one.parentElement) === parent);
  return beside[beside.indexOf(element) + (step === "next" ? 1 : -1)];
}

/** Calls once for all changes until the next frame. */
function soon(call) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      call();
    });
  };
}

if (window.parent !== window && !window[ONCE]) {
  Object.defineProperty(window, ONCE, { value: true });
  start();
}
