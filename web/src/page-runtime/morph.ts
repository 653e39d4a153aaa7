/** Morphs a part of the page into its new HTML and leaves equal nodes unchanged: elements are matched by id, else by
 * position and name. Rewritten parts so keep the reader's focus, input and opened elements. */
import {
  allIn,
  areEqual,
  attributesOf,
  childrenOf,
  closestTo,
  dropValue,
  firstChild,
  getValue,
  hasValue,
  idOf,
  insert,
  namespaceOf,
  nextSibling,
  parentOf,
  removeElement,
  setValue,
  settle,
  tagOf,
} from './dom.ts'

/** Callbacks before and after an element of the page changes. */
export interface Care {
  change(element: Element, change: () => void): void
}
export const careless: Care = { change: (_, change) => change() }

/** The `open` state that the page set on a `details` or `dialog`, which a reader may have changed. */
export const given = new WeakMap<Element, boolean>()

/** Called once: records which elements readers open and close. */
export function rememberOpened(root: Element): void {
  root.addEventListener(
    'click',
    ({ target }) => {
      if (!(target instanceof Element)) return
      const summary = closestTo(target, 'summary')
      const button = closestTo(target, 'button[commandfor]')
      const opened = summary === null ? null : parentOf(summary)
      const commanded =
        button === null ? null : root.querySelector(`#${CSS.escape(getValue(button, 'commandfor') ?? '')}`)
      for (const one of [opened, commanded, closestTo(target, 'dialog')])
        if (one !== null && !given.has(one)) given.set(one, hasValue(one, 'open'))
    },
    { capture: true },
  )
}

/** The content of `wanted` replaces the content of `into`; `wanted` is emptied. */
export function contentBecomes(into: Element, wanted: Node, care: Care): void {
  if (tagOf(into) === 'select' || tagOf(into) === 'textarea') care.change(into, () => content(into, wanted, care))
  else content(into, wanted, care)
}

/** Morphs an element into another of the same name. */
export function becomes(now: Element, want: Element, care: Care): void {
  if (areEqual(now, want)) {
    care.change(now, () => undefined)
    for (const field of allIn(now, 'input, textarea, select')) care.change(field, () => undefined)
    return
  }
  care.change(now, () => {
    attributes(now, want)
    content(now, want, care)
  })
}

function content(into: Element, wanted: Node, care: Care): void {
  const wants = childrenOf(wanted)
  const ids = new Set(wants.flatMap((one) => (one instanceof Element && idOf(one) !== '' ? [idOf(one)] : [])))
  const known = new Map<string, Element>()
  for (const one of childrenOf(into)) if (one instanceof Element && idOf(one) !== '') known.set(idOf(one), one)
  let at = firstChild(into)
  for (const want of wants) {
    const match = matching(at, want, ids, known)
    if (match === null) {
      insert(into, want, at)
      continue
    }
    if (match === at) at = nextSibling(at)
    else insert(into, match, at)
    if (match instanceof Element && want instanceof Element) {
      known.delete(idOf(want))
      becomes(match, want, care)
    } else if (match.nodeValue !== want.nodeValue) match.nodeValue = want.nodeValue
  }
  while (at !== null) {
    const next: ChildNode | null = nextSibling(at)
    if (at instanceof Element) removeElement(at)
    else at.remove()
    at = next
  }
  settle(into)
}

/** The node at or after `at` to morph into `want`; null if there is none: `want` is inserted as it is. */
function matching(
  at: ChildNode | null,
  want: ChildNode,
  ids: ReadonlySet<string>,
  known: ReadonlyMap<string, Element>,
): ChildNode | null {
  if (want instanceof Element && idOf(want) !== '') {
    const one = known.get(idOf(want))
    return one !== undefined && sameKind(one, want) ? one : null
  }
  if (at === null || at.nodeType !== want.nodeType) return null
  if (!(at instanceof Element) || !(want instanceof Element)) return at
  // An element whose id is needed further down is kept for that place.
  return sameKind(at, want) && !ids.has(idOf(at)) ? at : null
}

const sameKind = (one: Element, other: Element): boolean =>
  tagOf(one) === tagOf(other) &&
  namespaceOf(one) === namespaceOf(other) &&
  // A field of another type has another kind of value.
  (tagOf(one) !== 'input' || getValue(one, 'type') === getValue(other, 'type'))

function attributes(now: Element, want: Element): void {
  const opens = tagOf(now) === 'details' || tagOf(now) === 'dialog'
  // An element that a reader has opened or closed stays so as long as the page does not change its own state.
  const keepsOpen = opens && given.get(now) === hasValue(want, 'open')
  for (const { name } of [...attributesOf(now)])
    if (!hasValue(want, name) && !(keepsOpen && name === 'open')) dropValue(now, name)
  for (const { name, value } of [...attributesOf(want)])
    if (getValue(now, name) !== value && !(keepsOpen && name === 'open')) setValue(now, name, value)
  if (opens && !keepsOpen) given.delete(now)
}
