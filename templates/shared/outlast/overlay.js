// Outlines of the hovered and the chosen element. In a shadow tree, so that the app's styles and scripts do not affect
// it; it takes no clicks.
import { labelOf } from "./elements.js";

const STYLE = `
  :host { all: initial; position: fixed; inset: 0; z-index: 2147483647; pointer-events: none; }
  .box { position: fixed; box-sizing: border-box; border: calc(1px * var(--k)) solid #6d78f7; border-radius: calc(2px * var(--k)); }
  .hover { border-style: dashed; background: rgb(109 120 247 / 0.07); }
  .chosen { border-width: calc(2px * var(--k)); }
  .label { position: absolute; left: calc(-1px * var(--k)); bottom: 100%; padding: calc(1px * var(--k)) calc(5px * var(--k));
    border-radius: calc(3px * var(--k)) calc(3px * var(--k)) 0 0; background: #5a65e3; color: #fff; white-space: nowrap;
    font: 500 calc(11px * var(--k)) / 1.4 ui-sans-serif, system-ui, sans-serif; }
  .inside > .label { bottom: auto; top: 0; border-radius: 0 0 calc(3px * var(--k)) 0; }
  [hidden] { display: none; }
`;

export function createOverlay() {
  let host = null;
  let boxes = null;
  let factor = 1;
  const shown = { hover: null, chosen: null };

  function build() {
    host = document.createElement("outlast-overlay");
    host.setAttribute("aria-hidden", "true");
    const root = host.attachShadow({ mode: "closed" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    root.adoptedStyleSheets = [sheet];
    boxes = { hover: box("hover"), chosen: box("chosen") };
    root.append(boxes.hover, boxes.chosen);
  }

  function box(kind) {
    const made = document.createElement("div");
    const label = document.createElement("span");
    made.className = `box ${kind}`;
    label.className = "label";
    made.append(label);
    made.hidden = true;
    return made;
  }

  function place() {
    if (!host?.isConnected) return;
    for (const kind of ["hover", "chosen"]) {
      const made = boxes[kind];
      const element = shown[kind];
      const hidden = !element?.isConnected || (kind === "hover" && element === shown.chosen);
      made.hidden = hidden;
      if (hidden) continue;
      const { left, top, width, height } = element.getBoundingClientRect();
      Object.assign(made.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
      made.classList.toggle("inside", top < 18 * factor);
      const size = kind === "chosen" ? ` ${Math.round(width)} × ${Math.round(height)}` : "";
      made.firstChild.textContent = labelOf(element) + size;
    }
  }

  return {
    place,
    show() {
      if (!host) build();
      host.style.setProperty("--k", String(factor));
      document.documentElement.append(host);
      place();
    },
    hide() {
      host?.remove();
    },
    /** The frame is scaled down by this factor: lines are drawn thicker to compensate. */
    scale(scale) {
      factor = Math.min(6, Math.max(1, 1 / scale));
      host?.style.setProperty("--k", String(factor));
      place();
    },
    hover(element) {
      shown.hover = element;
      place();
    },
    choose(element) {
      shown.chosen = element;
      place();
    },
  };
}
