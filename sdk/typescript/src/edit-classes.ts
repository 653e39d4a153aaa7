/** Finds the classes to save an element's changes as: those that match its preview exactly. */
import type { OutlastClient } from './client.ts'
import type { PendingElement, StyleChange } from './edit-pending.ts'
import type { StyleCheck } from './edit-protocol.ts'

/** By property; `refused` is the reason why a value has no class. */
export interface FittedClasses {
  styles: Record<string, StyleChange>
  refused: Record<string, string>
}

/** Asks the page; empty if it does not answer. */
export type Measure = (one: PendingElement, checks: StyleCheck[]) => Promise<number[]>

type Css = Record<string, string>

interface Candidate {
  property: string
  change: StyleChange
  /** The CSS of the preview from now on, where the class sets it. */
  css: Css | null
  tries: { css: Css; exact: boolean; important: boolean }[]
}

/**
 * Finds classes for all changes of an element and measures them in place: an ancestor may have another scale, and
 * another class of the element may win. If a named class does not fit, one with the exact value is tried, then an
 * important one. A class that was picked by name is kept: its preview shows its declarations.
 */
export async function fitClasses(
  client: OutlastClient,
  screenId: string,
  one: PendingElement,
  measure: Measure,
): Promise<FittedClasses> {
  const changes = Object.entries(one.styles)
  const values = valuesOf(changes.filter(([, change]) => change.picked === undefined))
  const { classes, refused } =
    Object.keys(values).length === 0
      ? { classes: {} as Record<string, string>, refused: {} }
      : await client.edits.classes(screenId, values)
  const named = changes.flatMap(([property, change]): [string, StyleChange][] => {
    const name = change.picked ?? classes[property]
    return name === undefined ? [] : [[property, { ...change, class: name }]]
  })
  const names = named.flatMap(([, change]) => (isArbitrary(change) ? [] : [change.class ?? '']))
  const known = names.length === 0 ? {} : (await client.edits.classes(screenId, {}, names)).known
  const candidates = named.map(([property, change]) => candidate(property, change, known[change.class ?? ''] ?? {}))
  const chosen = await choose(one, candidates, measure)
  const exact = candidates.filter(
    ({ change, tries }, at) => tries[chosen[at] ?? -1]?.exact === true && !isArbitrary(change),
  )
  const found = exact.length === 0 ? {} : (await client.edits.exactClasses(screenId, exactValues(exact))).classes
  const styles = candidates.map(({ property, change, css, tries }, at): [string, StyleChange] => {
    const fit = tries[chosen[at] ?? -1]
    const name = (fit?.exact === true ? found[property] : undefined) ?? change.class
    return [
      property,
      {
        ...change,
        class: fit?.important === true ? `${name}!` : name,
        ...(css !== null && { css }),
        ...(fit !== undefined && { said: fit.css }),
        fitted: true,
      },
    ]
  })
  return { styles: Object.fromEntries(styles), refused }
}

/**
 * True if the classes of an element still match its preview: the page may have changed since. Asks only the page, once;
 * also true if it does not answer.
 */
export async function stillFits(one: PendingElement, measure: Measure): Promise<boolean> {
  const changes = Object.entries(one.styles)
  if (changes.some(([, { fitted }]) => fitted !== true)) return false
  const checks = changes.flatMap(([property, { css, said }]): StyleCheck[] =>
    said === undefined ? [] : [{ property, shown: [...new Set([property, ...Object.keys(css ?? {})])], tries: [said] }],
  )
  const found = checks.length === 0 ? [] : await measure(one, checks)
  return found.every((place) => place === 0)
}

const valuesOf = (changes: readonly [string, StyleChange][]): Css =>
  Object.fromEntries(changes.map(([property, { value }]) => [property, value]))

const exactValues = (exact: readonly Candidate[]): Css =>
  Object.fromEntries(exact.map(({ property, change }) => [property, change.value]))

const isArbitrary = ({ class: name }: StyleChange): boolean => name !== null && name.includes('[')

function candidate(property: string, change: StyleChange, said: Css): Candidate {
  // Values that Tailwind builds from its own variables are not measured, nor are variants.
  const css = Object.keys(said).length > 0 && !/var\(--tw-[\w-]+\)/.test(Object.values(said).join()) ? said : null
  const value = { [property]: change.value }
  const named = css === null ? [] : [{ css, exact: false, important: false }]
  if (change.picked !== undefined) {
    const important = named.map((one) => ({ css: importantly(one.css), exact: false, important: true }))
    return { property, change, css, tries: [...named, ...important] }
  }
  if (css === null && !isArbitrary(change)) return { property, change, css: null, tries: [] }
  const exact = { css: value, exact: true, important: false }
  const tries = [...named, exact, { css: importantly(value), exact: true, important: true }]
  return { property, change, css: null, tries }
}

const importantly = (css: Css): Css =>
  Object.fromEntries(Object.entries(css).map(([name, value]) => [name, `${value} !important`]))

/** By candidate, the index of the first try that fits, or 0 if none is known to fit. */
async function choose(one: PendingElement, candidates: readonly Candidate[], measure: Measure): Promise<number[]> {
  const measured = candidates.filter(({ tries }) => tries.length > 0)
  const shown = candidates.map((each): [string, StyleChange] => [
    each.property,
    { ...each.change, ...(each.css !== null && { css: each.css }) },
  ])
  const checks = measured.map(({ property, change, css, tries }) => ({
    property,
    shown: [...new Set([property, ...Object.keys(css ?? change.css ?? {})])],
    tries: tries.map((each) => each.css),
  }))
  const found = checks.length === 0 ? [] : await measure({ ...one, styles: Object.fromEntries(shown) }, checks)
  return candidates.map((each) => Math.max(0, found[measured.indexOf(each)] ?? 0))
}
