/**
 * Makes a part of the page what it is to be, and leaves alone what is the same already: elements are matched by id, else
 * by place and name. So what is written anew keeps its reader's focus, and what they have opened, typed or begun.
 */
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

/** Who wants to see an element of the page before and after it changes. */
export interface Care {
  change(element: Element, change: () => void): void
}
export const careless: Care = { change: (_, change) => change() }

/** Whether the page says that a `details` or `dialog` is open, where a reader may have closed it, or opened it. */
export const given = new WeakMap<Element, boolean>()

/** To be called once: notices what readers open and close. */
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

/** What `into` holds becomes what `wanted` holds; `wanted` is used up. */
export function contentBecomes(into: Element, wanted: Node, care: Care): void {
  if (tagOf(into) === 'select' || tagOf(into) === 'textarea') care.change(into, () => content(into, wanted, care))
  else content(into, wanted, care)
}

/** An element becomes another of the same name. */
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

/** The node at or after `at` that becomes `want`; null: none, it is put in as it came. */
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
  // One whose id is wanted further down is kept for that place.
  return sameKind(at, want) && !ids.has(idOf(at)) ? at : null
}

const sameKind = (one: Element, other: Element): boolean =>
  tagOf(one) === tagOf(other) &&
  namespaceOf(one) === namespaceOf(other) &&
  // A field of another type holds something else.
  (tagOf(one) !== 'input' || getValue(one, 'type') === getValue(other, 'type'))

function attributes(now: Element, want: Element): void {
  const opens = tagOf(now) === 'details' || tagOf(now) === 'dialog'
  // What a reader has opened or closed stays so as long as the page says of it what it said.
  const keepsOpen = opens && given.get(now) === hasValue(want, 'open')
  for (const { name } of [...attributesOf(now)])
    if (!hasValue(want, name) && !(keepsOpen && name === 'open')) dropValue(now, name)
  for (const { name, value } of [...attributesOf(want)])
    if (getValue(now, name) !== value && !(keepsOpen && name === 'open')) setValue(now, name, value)
  if (opens && !keepsOpen) given.delete(now)
}
