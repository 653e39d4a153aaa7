/**
 * Makes an element's content what some HTML says, and leaves alone what is the same already: elements are matched by id,
 * else by place and name. So a page that is shown whole anew keeps what its reader has opened, typed or begun.
 */
export function morph(root: HTMLElement, html: string): void {
  const template = document.createElement('template')
  template.innerHTML = html
  children(root, template.content)
}

function children(into: Element, wanted: ParentNode & Node): void {
  const ids = new Set([...wanted.children].flatMap(({ id }) => (id === '' ? [] : [id])))
  let at: ChildNode | null = into.firstChild
  for (const want of [...wanted.childNodes]) {
    const match = matching(at, want, ids)
    if (match === null) {
      into.insertBefore(want, at)
      continue
    }
    if (match === at) at = at.nextSibling
    else into.insertBefore(match, at)
    node(match, want)
  }
  while (at !== null) {
    const next: ChildNode | null = at.nextSibling
    at.remove()
    at = next
  }
}

/** The node at or after `at` that becomes `want`; null: none, it is put in as it came. */
function matching(at: ChildNode | null, want: ChildNode, ids: ReadonlySet<string>): ChildNode | null {
  if (want instanceof Element && want.id !== '') {
    for (let one = at; one !== null; one = one.nextSibling)
      if (one instanceof Element && one.id === want.id && one.tagName === want.tagName) return one
    return null
  }
  if (at === null || at.nodeType !== want.nodeType) return null
  if (!(at instanceof Element) || !(want instanceof Element)) return at
  // One whose id is wanted further down is kept for that place.
  return at.tagName === want.tagName && !ids.has(at.id) ? at : null
}

function node(now: ChildNode, want: ChildNode): void {
  if (now instanceof Element && want instanceof Element) {
    if (now.isEqualNode(want)) return
    for (const { name } of [...now.attributes]) if (!want.hasAttribute(name)) now.removeAttribute(name)
    for (const { name, value } of want.attributes) if (now.getAttribute(name) !== value) now.setAttribute(name, value)
    children(now, want)
  } else if (now.nodeValue !== want.nodeValue) now.nodeValue = want.nodeValue
}
