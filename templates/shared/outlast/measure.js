// Finds the classes that match a preview: writes their declarations where Tailwind would, and measures the page.
import { withMark } from "./elements.js";

const PROBE = "outlast-probe";
const PLAIN_CLASS = /^\.(?:[\w-]|\\.|[^\x00-\x7f])+$/;
const STILL = "*, *::before, *::after { transition: none !important }";

/**
 * For each check, the index of the first of its `tries` that makes every element with the mark match its preview, or -1
 * if there is none. A check has the `property`, the `shown` names that its preview sets inline, and `tries`, each with
 * the declarations of a class. All are measured together, as in the source. The page is left unchanged.
 */
export function measure({ aim, mark, checks }, previews) {
  const elements = withMark(aim === "use" ? "use" : "loc", String(mark));
  if (elements.length === 0) return checks.map(() => -1);
  const still = document.createElement("style");
  still.textContent = STILL;
  document.head.append(still);
  try {
    return choose(elements, checks, previews);
  } finally {
    for (const element of elements) getComputedStyle(element).color; // settles the old style before transitions run again
    still.remove();
  }
}

function choose(elements, checks, previews) {
  const wanted = read(elements, checks);
  const chosen = checks.map(() => 0);
  for (;;) {
    const found = asClasses(elements, checks, chosen, previews);
    const wrong = checks.flatMap((_, at) => (chosen[at] >= 0 && found[at] !== wanted[at] ? [at] : []));
    if (wrong.length === 0) return chosen;
    for (const at of wrong) chosen[at] = chosen[at] + 1 < checks[at].tries.length ? chosen[at] + 1 : -1;
  }
}

/** By check, the computed values of its property on the elements. */
const read = (elements, checks) =>
  checks.map(({ property }) =>
    elements.map((element) => getComputedStyle(element).getPropertyValue(property)).join("\n"),
  );

/** The same with classes in place of inline previews; if no try is left, the preview stays. */
function asClasses(elements, checks, chosen, previews) {
  const tried = checks.map(({ tries }, at) => tries[chosen[at]] ?? null);
  const was = elements.map((element) => [element.getAttribute("style"), element.getAttribute("class")]);
  const css = checks.flatMap(({ property }, at) => (tried[at] === null ? [] : [[property, tried[at]]]));
  const remove = insertProbe(css.toSorted(([a], [b]) => a.length - b.length).map(([, said]) => said)); // longhands last
  for (const element of elements) {
    const names = checks.flatMap(({ shown }, at) => (tried[at] === null ? [] : shown));
    previews.showBare(element, names);
    element.setAttribute("class", `${element.getAttribute("class") ?? ""} ${PROBE}`);
  }
  const found = read(elements, checks);
  remove();
  elements.forEach((element, at) => {
    putBack(element, "style", was[at][0]);
    putBack(element, "class", was[at][1]);
  });
  return found;
}

function putBack(element, name, value) {
  if (value === null) element.removeAttribute(name);
  else element.setAttribute(name, value);
}

/** Writes a class where Tailwind does: after its plain classes, before variants. Returns a function that removes it. */
function insertProbe(all) {
  const home = utilities();
  const rules = [...home.cssRules];
  const at = rules.findLastIndex((rule) => PLAIN_CLASS.test(rule.selectorText ?? "") && !rule.cssRules?.length) + 1;
  const declarations = all.flatMap((css) => Object.entries(css).map(([name, value]) => `${name}: ${value};`));
  home.insertRule(`.${PROBE} { ${declarations.join(" ")} }`, at);
  return () => home.deleteRule(at);
}

/** Tailwind's layer, or a style sheet at the end if the page has none. */
function utilities() {
  for (const sheet of document.styleSheets) {
    try {
      const layer = [...sheet.cssRules].find((rule) => rule instanceof CSSLayerBlockRule && rule.name === "utilities");
      if (layer) return layer;
    } catch {
      // of another site, or not loaded yet
    }
  }
  return [...document.styleSheets].findLast((sheet) => sheet.ownerNode?.textContent === STILL);
}
