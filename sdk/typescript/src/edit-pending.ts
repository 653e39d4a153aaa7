/** Unsaved changes by hand: their preview, and the edits to save. Pure. */
import type { EditRefusal, EditResult, ScreenEdit, SourceElement } from './api.gen.ts'
import type { ElementAim, ElementPreview, ElementReport } from './edit-protocol.ts'

/** Joins class lists; the last of conflicting classes wins. tailwind-merge's `twMerge` does this well. */
export type MergeClasses = (classes: string) => string

/** A changed property: its CSS, the class to save it as (null if not known yet), and all properties that the class
 * sets, if known. */
export interface StyleChange {
  value: string
  class: string | null
  css?: Record<string, string>
  /** The class that the user picked. */
  picked?: string
  /** The page was asked if the class matches the preview. */
  fitted?: boolean
  /** The measured declarations of the class; absent if none were measured. */
  said?: Record<string, string>
}

export interface PendingElement {
  aim: ElementAim
  mark: string
  /** The element's name in the source. */
  tag: string
  label: string
  /** The source when the element was first changed. */
  seen: { classes: string; text: string | null; src: string | null; alt: string | null }
  /** The page's class list at that time: it may have more classes than the source's string. */
  shown: string
  /** By CSS property. */
  styles: Record<string, StyleChange>
  /** Classes added and removed by name, with the CSS of the added ones if known. */
  added: Record<string, Record<string, string>>
  removed: string[]
  text: string | null
  attributes: Partial<Record<'src' | 'alt', string>>
  /** True if `seen` comes from the page, because the source was not read yet. */
  unread: boolean
  /** The reason why its classes cannot be edited by hand: they are read-only, and left to the agent. */
  locked: EditRefusal | null
  /** The reason why it could not be saved. */
  problem: (EditRefusal & { stale: boolean }) | null
}

export const keyOf = ({ aim, mark }: { aim: ElementAim; mark: string }): string => `${aim} ${mark}`

/** An element that is changed for the first time; without its source, the page's values count. */
export const untouched = (
  aim: ElementAim,
  mark: string,
  report: ElementReport,
  source: SourceElement | null,
): PendingElement => ({
  aim,
  mark,
  tag: report.tag,
  label: report.label,
  seen: {
    classes: report.classes,
    text: report.text,
    src: report.image?.src ?? null,
    alt: report.image?.alt ?? null,
  },
  shown: report.classes,
  styles: {},
  added: {},
  removed: [],
  text: null,
  attributes: {},
  locked: null,
  problem: null,
  unread: true,
  ...(source !== null && readFrom(source)),
})

/** The source's values of an element, in the form of `seen`. */
export const readFrom = (
  source: SourceElement,
): Pick<PendingElement, 'seen' | 'locked' | 'unread'> & Partial<Pick<PendingElement, 'tag' | 'label'>> => ({
  ...(source.tag !== null && { tag: source.tag, label: source.tag }),
  seen: {
    classes: source.classes?.value ?? '',
    text: source.text?.value ?? null,
    src: source.attributes.src?.value ?? null,
    alt: source.attributes.alt?.value ?? null,
  },
  locked: source.refusal ?? source.classes?.refusal ?? null,
  unread: source.refusal !== null,
})

const tokens = (classes: string): string[] => classes.split(/\s+/).filter((one) => one !== '')
const without = (classes: string, gone: readonly string[]): string[] =>
  tokens(classes).filter((one) => !gone.includes(one))

/** Added classes, in the order of the requests. */
export const newClasses = ({ styles, added }: PendingElement): string[] => [
  ...Object.values(styles).flatMap((change) => (change.class === null ? [] : [change.class])),
  ...Object.keys(added),
]

/** The new class string of the source. */
export const classesAfter = (one: PendingElement, merge: MergeClasses): string =>
  merge([...without(one.seen.classes, one.removed), ...newClasses(one)].join(' '))

/** True if a property or a class is changed, even if it cannot be saved. */
export const isStyled = ({ styles, added, removed }: PendingElement): boolean =>
  Object.keys(styles).length + Object.keys(added).length + removed.length > 0

/** True if anything differs from the source. */
export const isChanged = (one: PendingElement, merge: MergeClasses): boolean =>
  editsOf(one, merge).length > 0 ||
  (one.locked !== null && isStyled(one)) ||
  Object.values(one.styles).some((change) => change.class === null)

/** The preview that the page shows until the change is saved. */
export function previewOf(one: PendingElement, merge: MergeClasses): ElementPreview {
  const add = newClasses(one)
  const before = tokens(one.shown)
  const after = new Set(tokens(merge([...without(one.shown, one.removed), ...add].join(' '))))
  const styles: Record<string, string> = {}
  for (const css of Object.values(one.added)) Object.assign(styles, css)
  for (const change of Object.values(one.styles)) Object.assign(styles, change.css)
  for (const [property, change] of Object.entries(one.styles)) styles[property] = change.css?.[property] ?? change.value
  return {
    aim: one.aim,
    mark: one.mark,
    add: add.filter((name) => after.has(name)),
    remove: before.filter((name) => !after.has(name)),
    styles,
    ...(one.text !== null && { text: one.text }),
    ...(Object.keys(one.attributes).length > 0 && { attributes: { ...one.attributes } }),
  }
}

/** The edits to send to the server. */
export function editsOf(one: PendingElement, merge: MergeClasses): ScreenEdit[] {
  const common = { loc: one.mark, tag: one.tag }
  const edits: ScreenEdit[] = []
  const classes = classesAfter(one, merge)
  if (one.locked === null && tokens(classes).join(' ') !== tokens(one.seen.classes).join(' '))
    edits.push({ ...common, kind: 'classes', seen: one.seen.classes, value: classes })
  if (one.text !== null && one.text !== one.seen.text)
    edits.push({ ...common, kind: 'text', seen: one.seen.text, value: one.text })
  for (const attribute of ['src', 'alt'] as const) {
    const value = one.attributes[attribute]
    if (value !== undefined && value !== (one.seen[attribute] ?? ''))
      edits.push({ ...common, kind: 'attribute', attribute, seen: one.seen[attribute], value })
  }
  return edits
}

export interface Settled {
  /** Changes that are still pending, with the reason. */
  left: PendingElement[]
  /** Marks whose preview is in the source now, the old ones and the new ones. */
  kept: string[]
  /** The number of applied edits. */
  saved: number
}

/** The pending changes after saving: applied ones are removed; the others stay, at their new place, with the reason. */
export function settle(sent: readonly PendingElement[], results: readonly EditResult[], merge: MergeClasses): Settled {
  const settled: Settled = { left: [], kept: [], saved: 0 }
  let at = 0
  for (const one of sent) {
    const edits = editsOf(one, merge)
    const own = results.slice(at, at + edits.length)
    at += edits.length
    settled.saved += own.filter((result) => result.status === 'applied').length
    const refused = own.find((result) => result.status !== 'applied')
    const mark = own[0]?.loc ?? one.mark
    if (refused === undefined) settled.kept.push(one.mark, mark)
    else settled.left.push(remaining({ ...one, mark }, edits, own, refused))
  }
  return settled
}

/** An element with some applied and some pending edits. */
function remaining(
  one: PendingElement,
  edits: readonly ScreenEdit[],
  own: readonly EditResult[],
  refused: EditResult,
): PendingElement {
  const left: PendingElement = { ...one, seen: { ...one.seen }, attributes: { ...one.attributes } }
  edits.forEach((edit, at) => {
    const result = own[at]
    if (result === undefined) return
    const now = result.status === 'applied' ? edit.value : result.found
    if (now === null) return
    if (edit.kind === 'classes') {
      left.seen.classes = now
      if (result.status === 'applied') Object.assign(left, { styles: {}, added: {}, removed: [], shown: one.shown })
    } else if (edit.kind === 'text') left.seen.text = now
    else if (edit.attribute != null) left.seen[edit.attribute] = now
  })
  left.problem = {
    code: refused.code ?? refused.status,
    reason: refused.reason ?? '',
    hint: refused.hint ?? '',
    stale: refused.status === 'stale',
  }
  return left
}
