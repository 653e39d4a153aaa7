/** Translates a person's clicks, submitted forms and changed fields into actions of the page. */
import { refusal } from './action-rules'

export interface Acted {
  element: HTMLElement
  name: string
  data: Record<string, unknown>
  /** The fields whose content is submitted with it: they are no longer preserved for the reader. */
  handedIn: Field[]
}

export type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement
export type Refused = { refused: string }

const SELECTOR = '[data-action]'
/** The `data-*` attributes for this script, which are not sent to the agent. */
const OWN_VALUES: ReadonlySet<string> = new Set(['action', 'repeat'])

/** True if the same action is still in progress, so that this one would be a duplicate. Changes of fields, and elements
 * with `data-repeat`, may always repeat. */
export function isRepeated(acted: Acted, waiting: Iterable<Pick<Acted, 'name' | 'data'>>): boolean {
  if (isField(acted.element) || acted.element.hasAttribute('data-repeat')) return false
  const same = JSON.stringify([acted.name, acted.data])
  return [...waiting].some(({ name, data }) => JSON.stringify([name, data]) === same)
}

/** The action of a click, or null if the click has none (it submits a form or changes a field). */
export function ofClick(target: EventTarget | null): Acted | Refused | null {
  const element = nearest(target)
  if (element === null || element instanceof HTMLFormElement || isField(element)) return null
  if (element.matches(':disabled, [aria-disabled=true]')) return null
  return makeAction(element, valuesOf(element), [])
}

/** The action of a submitted form: its own values, then its fields. */
export function ofSubmit(form: HTMLFormElement, submitter: HTMLElement | null): Acted | Refused | null {
  const element = submitter?.matches(SELECTOR) === true ? submitter : form
  if (!element.matches(SELECTOR)) return null
  const data = { ...valuesOf(form), ...valuesOf(element), ...fieldsOf(form, submitter) }
  return makeAction(element, data, fieldsIn(form))
}

/** The action of a changed field. */
export function ofChange(target: EventTarget | null): Acted | Refused | null {
  if (!(target instanceof Element) || !isField(target) || !target.matches(SELECTOR)) return null
  const value = valueOf(target)
  const named = target.name === '' ? {} : { [target.name]: value }
  return makeAction(target, { ...valuesOf(target), value, ...named }, [])
}

function makeAction(element: HTMLElement, data: Record<string, unknown>, handedIn: Field[]): Acted | Refused {
  const name = element.getAttribute('data-action') ?? ''
  const refused = refusal(name, data)
  return refused === null ? { element, name, data, handedIn } : { refused }
}

/** The element's `data-*` values, without the attributes for this script. */
function valuesOf(element: HTMLElement): Record<string, unknown> {
  const own = Object.entries(element.dataset).filter(([name]) => !OWN_VALUES.has(name) && !name.startsWith('outlast'))
  const value = element instanceof HTMLButtonElement && element.value !== '' ? { value: element.value } : {}
  return { ...value, ...Object.fromEntries(own) }
}

function fieldsOf(form: HTMLFormElement, submitter: HTMLElement | null): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  const data = submitter instanceof HTMLButtonElement ? new FormData(form, submitter) : new FormData(form)
  for (const [name, value] of data) {
    if (typeof value !== 'string') continue // the content of a file is not sent
    const before = values[name]
    values[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value]
  }
  return values
}

const fieldsIn = (form: HTMLFormElement): Field[] => [...form.elements].filter(isField)

function valueOf(field: Field): unknown {
  if (field instanceof HTMLInputElement && field.type === 'checkbox') return field.checked
  if (field instanceof HTMLSelectElement && field.multiple) return [...field.selectedOptions].map(({ value }) => value)
  return field.value
}

export const isField = (element: Element): element is Field =>
  element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement

const nearest = (target: EventTarget | null): HTMLElement | null =>
  target instanceof Element ? target.closest<HTMLElement>(SELECTOR) : null
