// Previews of unsaved changes: applied, removed, and dropped once the source has the same.
import { withMark } from "./elements.js";

const SETTLE_MS = 2500; // after saving, until the style sheet has the new classes

export function createPreviews(onMoved) {
  const shown = new Map(); // key -> { item, elements: Map(element -> its original state) }
  const settling = new Map(); // element -> its original state, while inline styles stand in for saved classes

  function show(items, kept) {
    const wanted = new Map(items.filter(isItem).map((item) => [keyOf(item), item]));
    for (const [key, entry] of shown) {
      if (wanted.has(key)) continue;
      shown.delete(key);
      if (kept.includes(entry.item.mark)) keep(entry);
      else for (const [element, was] of entry.elements) restore(element, was);
    }
    for (const [key, item] of wanted) {
      const entry = shown.get(key) ?? { item, elements: new Map() };
      for (const [element, was] of entry.elements) restore(element, was);
      shown.set(key, { item, elements: new Map() });
      apply(shown.get(key));
    }
  }

  function apply(entry) {
    for (const element of withMark(entry.item.aim, entry.item.mark)) put(entry, element);
  }

  function put(entry, element) {
    const { item } = entry;
    settle(element);
    const was = remembered(element, item);
    const classes = was.classes.split(/\s+/).filter((name) => name && !item.remove.includes(name));
    const after = [...new Set([...classes, ...item.add])].join(" ");
    if (item.add.length + item.remove.length > 0) setAttribute(element, "class", after);
    was.shownClasses = element.getAttribute("class") ?? "";
    for (const [name, value] of Object.entries(item.styles)) element.style.setProperty(name, value, "important");
    for (const [name, value] of Object.entries(item.attributes ?? {})) setAttribute(element, name, value);
    if (typeof item.text === "string") setText(element, item.text);
    was.shown = item;
    entry.elements.set(element, was);
  }

  /** The page has changed: applies previews to new elements with a mark, and reports moved marks. */
  function refresh() {
    for (const entry of [...shown.values()]) {
      const { aim, mark } = entry.item;
      const first = entry.elements.keys().next().value;
      const now = first?.isConnected ? first.dataset[aim] : mark;
      if (now && now !== mark) {
        shown.delete(keyOf(entry.item));
        entry.item = { ...entry.item, mark: now };
        shown.set(keyOf(entry.item), entry);
        onMoved({ aim, from: mark, to: now });
      }
      for (const element of withMark(aim, entry.item.mark)) {
        const was = entry.elements.get(element);
        const classes = element.getAttribute("class") ?? "";
        if (was === undefined) {
          put(entry, element);
        } else if (classes !== was.shownClasses) {
          was.classes = classes; // the app changed them
          put(entry, element);
        }
      }
    }
  }

  /** The source has the change: keeps classes, text and attributes; inline styles only until the style sheet is up to
   * date. */
  function keep(entry) {
    for (const [element, was] of entry.elements) settling.set(element, was);
    setTimeout(() => {
      for (const element of entry.elements.keys()) settle(element);
    }, SETTLE_MS);
  }

  function settle(element) {
    const was = settling.get(element);
    if (was === undefined) return;
    settling.delete(element);
    restoreStyles(element, was);
  }

  function classesOf(element) {
    for (const { elements } of shown.values()) {
      const was = elements.get(element);
      if (was) return was.classes;
    }
    return element.getAttribute("class") ?? "";
  }

  /** Removes these preview styles from an element: the app's inline styles show again. */
  function showBare(element, names) {
    const was = [...shown.values()].map(({ elements }) => elements.get(element)).find(Boolean);
    for (const name of names) {
      const [value, priority] = was?.styles[name] ?? [];
      if (value) element.style.setProperty(name, value, priority);
      else element.style.removeProperty(name);
    }
  }

  return { show, refresh, classesOf, showBare };
}

const keyOf = ({ aim, mark }) => `${aim} ${mark}`;

const isItem = (item) =>
  item && typeof item.mark === "string" && Array.isArray(item.add) && Array.isArray(item.remove) && !!item.styles;

function remembered(element, item) {
  const styles = {};
  for (const name of Object.keys(item.styles)) {
    styles[name] = [element.style.getPropertyValue(name), element.style.getPropertyPriority(name)];
  }
  const attributes = {};
  for (const name of Object.keys(item.attributes ?? {})) attributes[name] = element.getAttribute(name);
  return {
    classes: element.getAttribute("class") ?? "",
    had: element.hasAttribute("class"),
    styles,
    styled: element.hasAttribute("style"),
    attributes,
    text: typeof item.text === "string" ? element.textContent : null,
  };
}

function restore(element, was) {
  // Values that the app has set meanwhile are newer than the original state.
  if ((element.getAttribute("class") ?? "") === was.shownClasses) {
    if (was.had) setAttribute(element, "class", was.classes);
    else element.removeAttribute("class");
  }
  restoreStyles(element, was);
  for (const [name, value] of Object.entries(was.attributes)) {
    if (element.getAttribute(name) !== was.shown.attributes[name]) continue;
    if (value === null) element.removeAttribute(name);
    else setAttribute(element, name, value);
  }
  if (was.text !== null && element.textContent === was.shown.text) setText(element, was.text);
}

function restoreStyles(element, was) {
  for (const [name, [value, priority]] of Object.entries(was.styles)) {
    if (value) element.style.setProperty(name, value, priority);
    else element.style.removeProperty(name);
  }
  if (!was.styled && element.style.length === 0) element.removeAttribute("style");
}

function setAttribute(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** Writes into the existing text node: the app's script keeps a reference to it. */
function setText(element, text) {
  const nodes = [...element.childNodes];
  if (nodes.some((node) => node.nodeType !== Node.TEXT_NODE)) return;
  if (nodes.length === 0) element.append(text);
  else if (nodes[0].nodeValue !== text) nodes[0].nodeValue = text;
  for (const more of nodes.slice(1)) more.nodeValue = "";
}
