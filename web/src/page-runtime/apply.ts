/** Applies a page's patches, as the server normalised them, to its document, which then equals the server's. Rewritten
 * parts change as few nodes as possible, so that the reader keeps focus, input and scroll position. */
import type { PagePatch } from '@outlast/sdk'
import {
  childrenOf,
  dropValue,
  firstChild,
  getValue,
  hasValue,
  idOf,
  insert,
  nextSibling,
  parentOf,
  parsed,
  put,
  removeElement,
  setValue,
  settle,
  tagOf,
} from './dom.ts'
import { becomes, contentBecomes, type Care, careless, given } from './morph.ts'

/** The fields of a patch that `apply` needs: null and undefined are equivalent. */
type Given = Pick<PagePatch, 'op' | 'at'> & Partial<PagePatch>

/** Changes the tree below `root` in order. Throws if an element does not exist; then the whole page must be loaded. */
export function applyPatches(root: Element, patches: readonly Given[], care: Care = careless): void {
  for (const patch of patches) apply(root, patch, care)
}

/** Shows the whole page. Parts that are the same stay unchanged. */
export function showHtml(root: Element, html: string, care: Care = careless): void {
  contentBecomes(root, parsed(root, html), care)
}

function apply(root: Element, patch: Given, care: Care): void {
  const at = target(root, patch.at)
  switch (patch.op) {
    case 'text':
      return care.change(at, () => setText(at, patch.text ?? ''))
    case 'html':
      return contentBecomes(at, parsed(at, patch.html ?? ''), care)
    case 'append':
    case 'prepend':
      put(patch.op, at, parsed(at, patch.html ?? ''))
      return settle(at)
    case 'before':
    case 'after': {
      const parent = parentOf(at)
      put(patch.op, at, parsed(parent ?? root, patch.html ?? ''))
      return settle(parent)
    }
    case 'replace':
      return replace(at, parentOf(at) ?? root, patch.html ?? '', care)
    case 'remove': {
      const parent = parentOf(at)
      removeElement(at)
      return settle(parent)
    }
    case 'attributes':
      return care.change(at, () => setAttributes(at, patch))
    case 'classes':
      return setClasses(at, patch)
    case 'move':
      return move(at, target(root, patch.to ?? 'page'), patch.place ?? 'append')
  }
}

function target(root: Element, at: string): Element {
  const found = at === 'page' ? root : root.querySelector(`[id="${CSS.escape(at.slice(1))}"]`)
  if (found === null) throw new Error(`there is no element ${at}`)
  return found
}

function setText(at: Element, text: string): void {
  const only = firstChild(at)
  // The same node: a selection in it is preserved.
  if (only instanceof Text && nextSibling(only) === null && text !== '') {
    if (only.data !== text) only.data = text
  } else {
    for (const node of childrenOf(at)) node.remove()
    if (text !== '') put('append', at, new Text(text))
  }
  settle(at)
}

function setAttributes(at: Element, { set, remove }: Given): void {
  for (const name of remove ?? []) dropValue(at, name)
  for (const [name, value] of Object.entries(set ?? {})) if (getValue(at, name) !== value) setValue(at, name, value)
  if (hasValue(at, 'open') || remove?.includes('open') === true) given.set(at, hasValue(at, 'open'))
}

function setClasses(at: Element, { add, remove }: Given): void {
  const removed = new Set(remove ?? [])
  const names = (getValue(at, 'class') ?? '').split(/\s+/).filter((name) => name !== '' && !removed.has(name))
  const all = [...new Set([...names, ...(add ?? [])])].join(' ')
  if (all === '') dropValue(at, 'class')
  else setValue(at, 'class', all)
}

function move(at: Element, to: Element, place: NonNullable<PagePatch['place']>): void {
  if (at === to) return
  const before = parentOf(at)
  put(place, to, at)
  settle(before)
  settle(parentOf(at))
}

/** Keeps the element if the HTML contains its successor: an element with its id, or the only one of its kind. */
function replace(at: Element, parent: Element, html: string, care: Care): void {
  const nodes = childrenOf(parsed(parent, html))
  const elements = nodes.filter((node): node is Element & ChildNode => node instanceof Element)
  const same = elements.filter((one) => tagOf(one) === tagOf(at))
  const heir = same.find((one) => idOf(one) === idOf(at)) ?? (elements.length === 1 ? same[0] : undefined)
  let seen = false
  let last: Element | null = null
  for (const node of nodes) {
    if (heir !== undefined && node === heir) {
      becomes(at, heir, care)
      seen = true
    } else if (!seen) put('before', at, node)
    else {
      // Siblings after the successor keep their order.
      const after: Node = last ?? at
      insert(parent, node, nextSibling(after))
      last = node as unknown as Element
    }
  }
  if (!seen) removeElement(at)
  settle(parent)
}
