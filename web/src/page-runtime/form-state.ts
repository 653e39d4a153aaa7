/** The reader's state while the page changes: focus, caret, typed text and scroll position. Nodes that a change does
 * not touch keep it by themselves; rewritten nodes get it back here. */
import { isField, type Field } from './actions'
import { allIn, closestTo, getValue, idOf, parentOf, tagOf } from './dom'

interface Typed {
  /** The value that the page set, before the reader typed. */
  given: string
  typed: string
  node: Field
}

export interface Kept {
  typed: Map<string, Typed>
  focus: { way: string; node: Element; from: number | null; to: number | null } | null
  scrolled: Map<string, { node: Element; top: number; left: number }>
  page: { x: number; y: number }
}

/** Fields that were submitted with an action, and their values then: the page may clear them. */
export type HandedIn = WeakMap<Field, string>

/** `moved` are the elements that the reader has scrolled. */
export function keep(root: HTMLElement, handedIn: HandedIn, moved: ReadonlySet<Element>): Kept {
  const active = document.activeElement
  const inside = active !== null && active !== document.body && root.contains(active)
  return {
    typed: new Map(typedIn(root, handedIn)),
    focus: inside ? { way: wayTo(root, active), node: active, ...selectionOf(active) } : null,
    scrolled: new Map(
      [...moved]
        .filter((node) => root.contains(node) && (node.scrollTop !== 0 || node.scrollLeft !== 0))
        .map((node) => [wayTo(root, node), { node, top: node.scrollTop, left: node.scrollLeft }]),
    ),
    page: { x: scrollX, y: scrollY },
  }
}

export function giveBack(root: HTMLElement, kept: Kept): void {
  for (const [way, { given, typed, node }] of kept.typed) {
    const field = root.contains(node) ? node : find(root, way)
    if (field === null || !isField(field) || !sameKind(field, node)) continue
    if (givenOf(field) === given) type(field, typed)
    else if (field === node) untype(field) // the page now sets another value, which takes precedence
  }
  for (const [way, { node, top, left }] of kept.scrolled) {
    const target = root.contains(node) ? node : find(root, way)
    if (target !== null && (target.scrollTop !== top || target.scrollLeft !== left)) target.scrollTo(left, top)
  }
  if (scrollX !== kept.page.x || scrollY !== kept.page.y) scrollTo(kept.page.x, kept.page.y)
  if (kept.focus !== null) focusAgain(root, kept.focus)
}

function focusAgain(root: HTMLElement, { way, node, from, to }: NonNullable<Kept['focus']>): void {
  const target = root.contains(node) ? node : find(root, way)
  if (!(target instanceof HTMLElement) || target.tagName !== node.tagName) return
  if (document.activeElement !== target) target.focus({ preventScroll: true })
  if (from === null || !('setSelectionRange' in target)) return
  try {
    ;(target as HTMLInputElement).setSelectionRange(from, to)
  } catch {
    // a kind of field without a caret
  }
}

function* typedIn(root: HTMLElement, handedIn: HandedIn): Iterable<[string, Typed]> {
  for (const node of root.querySelectorAll('input, textarea, select')) {
    if (!isField(node)) continue
    const [given, typed] = [givenOf(node), typedOf(node)]
    if (given !== typed && handedIn.get(node) !== typed) yield [wayTo(root, node), { given, typed, node }]
  }
}

const isBox = (field: Field): field is HTMLInputElement =>
  field instanceof HTMLInputElement && (field.type === 'checkbox' || field.type === 'radio')

function givenOf(field: Field): string {
  if (field instanceof HTMLSelectElement)
    return JSON.stringify([...field.options].filter((one) => one.defaultSelected).map(({ value }) => value))
  return isBox(field) ? String(field.defaultChecked) : field.defaultValue
}

export function typedOf(field: Field): string {
  if (field instanceof HTMLSelectElement) {
    const chosen = [...field.selectedOptions].map(({ value }) => value)
    // A dropdown shows its first entry if none is marked: the reader has not chosen that.
    const unmarked = !field.multiple && ![...field.options].some((one) => one.defaultSelected)
    return JSON.stringify(unmarked && field.selectedIndex <= 0 ? [] : chosen)
  }
  return isBox(field) ? String(field.checked) : field.value
}

/** A field is rewritten and stays the same node: if the page sets a new value, or the reader has submitted theirs, it
 * shows the page's value. */
export function changeField(field: Field, change: () => void, handedIn: HandedIn): void {
  const before = givenOf(field)
  const done = handedIn.get(field) === typedOf(field)
  change()
  const pageValue = givenOf(field)
  if ((pageValue === before && !done) || pageValue === typedOf(field)) return
  if (field instanceof HTMLSelectElement) {
    for (const option of field.options) option.selected = option.defaultSelected
    if (pageValue === '[]' && !field.multiple) field.selectedIndex = 0
  } else type(field, pageValue)
}

function type(field: Field, typed: string): void {
  if (typedOf(field) === typed) return
  if (field instanceof HTMLSelectElement) {
    const chosen = new Set(JSON.parse(typed) as string[])
    if (![...field.options].some(({ value }) => chosen.has(value))) return
    for (const option of field.options) option.selected = chosen.has(option.value)
  } else if (isBox(field)) field.checked = typed === 'true'
  else if (field.type !== 'file') field.value = typed
}

/** Resets the field to the page's value. */
export function untype(field: Field): void {
  if (field instanceof HTMLSelectElement) {
    const marked = [...field.options].some((one) => one.defaultSelected)
    for (const option of field.options) option.selected = option.defaultSelected
    if (!marked && !field.multiple) field.selectedIndex = field.options.length === 0 ? -1 : 0
  } else if (isBox(field)) field.checked = field.defaultChecked
  else field.value = field.type === 'file' ? '' : field.defaultValue
}

const sameKind = (one: Field, other: Field): boolean => one.tagName === other.tagName && one.type === other.type

function selectionOf(element: Element): { from: number | null; to: number | null } {
  if (!('selectionStart' in element)) return { from: null, to: null }
  const { selectionStart, selectionEnd } = element as HTMLInputElement
  return { from: selectionStart, to: selectionEnd }
}

/** A path by which an element is found again after its part of the page was rewritten: its id, its field name in its
 * form, else its position below the nearest element with an id. */
function wayTo(root: Element, element: Element): string {
  if (idOf(element) !== '') return `#${idOf(element)}`
  const name = getValue(element, 'name')
  if (name !== null && name !== '') {
    const form = closestTo(element, 'form')
    const base = form !== null && root.contains(form) && form !== element ? wayTo(root, form) : ''
    const twins = allIn(root, `${tagOf(element)}[name="${CSS.escape(name)}"]`).filter(
      (one) => closestTo(one, 'form') === form,
    )
    return `${base}>${tagOf(element)}[${name}]${twins.indexOf(element)}`
  }
  const parent = parentOf(element)
  if (element === root || parent === null) return ''
  return `${wayTo(root, parent)}/${allIn(parent, ':scope > *').indexOf(element)}${tagOf(element)}`
}

function find(root: HTMLElement, way: string): Element | null {
  if (way.startsWith('#') && !/[/>]/.test(way)) return root.querySelector(`#${CSS.escape(way.slice(1))}`)
  return [...root.querySelectorAll('*')].find((element) => wayTo(root, element) === way) ?? null
}
