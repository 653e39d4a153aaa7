// Elements as they look when no pointer is over them: while a person picks one, rules for that state do not apply.
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

  /** Style sheets that came since, as hot reload brings them. */
  function refresh() {
    if (!on) return;
    for (const sheet of [...document.styleSheets, ...document.adoptedStyleSheets]) {
      if (seen.has(sheet)) continue;
      try {
        still(sheet.cssRules);
        seen.add(sheet);
      } catch {
        // another site's, or not loaded yet
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
