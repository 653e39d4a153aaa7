// Disables :hover rules while the user picks an element, so that elements look as they do without a pointer.
const POINTED = /(?<!\\):(?:hover|active)(?![\w-])/g;
const NOTHING = ":not(*)";

export function createRest() {
  let changed = new Map(); // rule -> its selector
  let seen = new WeakSet(); // style sheets
  let on = false;

  function still(rules) {
    for (const rule of rules) {
      const selector = rule.selectorText;
      if (selector && selector.search(POINTED) >= 0) {
        rule.selectorText = selector.replace(POINTED, NOTHING);
        changed.set(rule, selector);
      }
      if (rule.cssRules) still(rule.cssRules);
    }
  }

  /** Style sheets added since, for instance by hot reload. */
  function refresh() {
    if (!on) return;
    for (const sheet of [...document.styleSheets, ...document.adoptedStyleSheets]) {
      if (seen.has(sheet)) continue;
      try {
        still(sheet.cssRules);
        seen.add(sheet);
      } catch {
        // of another site, or not loaded yet
      }
    }
  }

  function start() {
    on = true;
    refresh();
  }

  function stop() {
    on = false;
    for (const [rule, selector] of changed) rule.selectorText = selector;
    changed = new Map();
    seen = new WeakSet();
  }

  return { start, stop, refresh };
}
