// Captures an element for an agent that rebuilds it: its HTML, and the computed styles of everything in it.
import { labelOf } from "./elements.js";

const MOST_ELEMENTS = 120;
const MOST_CHARS = 50_000;
// Properties that do not affect the look, and those with a shorthand below.
const LEFT_OUT =
  /^(?:--|-webkit-|transition|animation|will-change|perspective-origin|transform-origin|inset-|block-size|inline-size|(?:min|max)-(?:block|inline)|margin-|padding-|border-(?!collapse|spacing)|unicode-bidi|app-region|text-size-adjust|text-decoration-color|d$|cursor|outline|caret|tab-size|orphans|widows|scroll|overscroll|(?:row|column)-rule|text-emphasis|view-|interactivity|timeline|box-sizing|text-rendering)/;
const SHORT = ["margin", "padding", "border-width", "border-style", "border-color", "border-radius"];
const NO_SHADOW = /rgba\(0, 0, 0, 0\) 0px 0px 0px 0px(?:, )?/g;
const KEPT = new Set([
  "href",
  "src",
  "srcset",
  "alt",
  "type",
  "placeholder",
  "value",
  "role",
  "viewBox",
  "d",
  "fill",
  "stroke",
  "stroke-width",
  "stroke-linecap",
  "stroke-linejoin",
  "cx",
  "cy",
  "r",
  "x",
  "y",
  "x1",
  "x2",
  "y1",
  "y2",
  "width",
  "height",
  "points",
  "rx",
  "ry",
  "transform",
  "colspan",
  "rowspan",
  "xmlns",
]);

export function capture(element) {
  const blank = document.createElement("iframe");
  blank.style.display = "none";
  document.documentElement.append(blank);
  const usual = usualStyles(blank.contentDocument);
  const css = [];
  let count = 0;
  const inherited = getComputedStyle(document.documentElement);

  function copy(node, parentStyle) {
    if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.nodeValue);
    if (!(node instanceof Element) || /^(?:script|style|link|template|noscript)$/i.test(node.tagName)) return null;
    if (count >= MOST_ELEMENTS) return null;
    const id = ++count;
    const made = document.createElementNS(node.namespaceURI, node.localName);
    for (const { name, value } of node.attributes) {
      if (KEPT.has(name)) made.setAttribute(name, absolute(node, name, value));
    }
    made.setAttribute("data-e", String(id));
    const style = getComputedStyle(node);
    const said = different(style, usual(node), parentStyle);
    if (said) css.push(`[data-e="${id}"] { ${said} }`);
    for (const child of node.childNodes) {
      const copied = copy(child, style);
      if (copied) made.append(copied);
    }
    return made;
  }

  try {
    const made = copy(element, inherited);
    const words = element.textContent.replace(/\s+/g, " ").trim().slice(0, 40);
    return {
      label: words ? `${labelOf(element)} “${words}”` : labelOf(element),
      html: made.outerHTML.slice(0, MOST_CHARS),
      css: css.join("\n").slice(0, MOST_CHARS),
      loc: element.dataset.use ?? element.dataset.loc ?? null,
    };
  } finally {
    blank.remove();
  }
}

/** The default style of a tag. */
function usualStyles(page) {
  const known = new Map();
  return (node) => {
    const key = `${node.namespaceURI} ${node.localName}`;
    if (!known.has(key)) {
      const bare = page.createElementNS(node.namespaceURI, node.localName);
      page.body.append(bare);
      known.set(key, { ...valuesOf(page.defaultView.getComputedStyle(bare)) });
      bare.remove();
    }
    return known.get(key);
  };
}

function valuesOf(style) {
  const values = {};
  for (const name of style) if (!LEFT_OUT.test(name)) values[name] = style.getPropertyValue(name);
  for (const name of SHORT) values[name] = style.getPropertyValue(name);
  return values;
}

const HANDED_DOWN =
  /^(?:color|font|line-height|letter-spacing|text-align|text-transform|text-indent|white-space|word|visibility|list-style|direction)/;

function different(style, usual, parent) {
  const said = [];
  const bare = style.getPropertyValue("border-width") === "0px";
  for (const [name, value] of Object.entries(valuesOf(style))) {
    if (HANDED_DOWN.test(name) ? value === parent.getPropertyValue(name) : value === usual[name]) continue;
    if (bare && /^border-(?:style|color)$/.test(name)) continue;
    said.push(`${name}: ${name === "box-shadow" ? value.replace(NO_SHADOW, "") : value};`);
  }
  return said.join(" ");
}

function absolute(node, name, value) {
  if (name === "src" || name === "href") return new URL(value, document.baseURI).href;
  return value;
}
