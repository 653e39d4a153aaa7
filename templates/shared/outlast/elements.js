// Describes elements of this page for the page around it.
const MARKED = "[data-loc],[data-use]";
const MOST_CHARS = 4000;
const SHOWN = [
  "color",
  "background-color",
  "background-image",
  "opacity",
  "box-shadow",
  "border-top-width",
  "border-right-width",
  "border-bottom-width",
  "border-left-width",
  "border-top-style",
  "border-top-color",
  "border-top-left-radius",
  "border-top-right-radius",
  "border-bottom-right-radius",
  "border-bottom-left-radius",
  "display",
  "position",
  "flex-direction",
  "flex-wrap",
  "justify-content",
  "align-items",
  "grid-template-columns",
  "row-gap",
  "column-gap",
  "padding-top",
  "padding-right",
  "padding-bottom",
  "padding-left",
  "margin-top",
  "margin-right",
  "margin-bottom",
  "margin-left",
  "width",
  "height",
  "min-height",
  "max-width",
  "overflow-x",
  "font-family",
  "font-size",
  "font-weight",
  "font-style",
  "line-height",
  "letter-spacing",
  "text-align",
  "text-transform",
  "text-decoration-line",
  "object-fit",
  "object-position",
  "aspect-ratio",
];

/** The nearest element with a mark, including itself. */
export const marked = (node) => (node instanceof Element ? node.closest(MARKED) : null);

/** Every element with this mark, in the order of the page. */
export const withMark = (aim, mark) => [...document.querySelectorAll(`[data-${aim}="${CSS.escape(mark)}"]`)];

/** Its ancestors with marks, outermost first, and itself. */
export function pathOf(element) {
  const path = [];
  for (let one = element; one; one = marked(one.parentElement)) path.unshift(one);
  return path.slice(-40);
}

/** A readable name: the component's part, or the tag. */
export const labelOf = (element) => element.dataset.slot || element.tagName.toLowerCase();

/** The text of an element that holds nothing else. */
export function plainText(element) {
  const nodes = [...element.childNodes];
  if (nodes.length === 0 || nodes.some((node) => node.nodeType !== Node.TEXT_NODE)) return null;
  return element.textContent.slice(0, MOST_CHARS);
}

/** An element in the form of the protocol. `previews` has its state before any preview. */
export function describe(element, previews) {
  const computed = getComputedStyle(element);
  const { x, y, width, height } = element.getBoundingClientRect();
  const { loc = null, use = null } = element.dataset;
  const styles = {};
  for (const name of SHOWN) styles[name] = computed.getPropertyValue(name).slice(0, 1000);
  return {
    loc,
    use,
    tag: element.tagName.toLowerCase(),
    label: labelOf(element),
    classes: previews.classesOf(element).slice(0, MOST_CHARS),
    text: plainText(element),
    image: element instanceof HTMLImageElement ? { src: element.getAttribute("src") ?? "", alt: element.alt } : null,
    rect: { x, y, width, height },
    styles,
    path: pathOf(element).map((one) => ({
      label: labelOf(one),
      loc: one.dataset.loc ?? null,
      use: one.dataset.use ?? null,
    })),
    count: (loc ? withMark("loc", loc) : withMark("use", use)).length,
  };
}
