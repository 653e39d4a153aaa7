/** The text that a person saw when they started a decision. It is kept with their changes and sent with the decision,
 * so that later changes are merged or shown and never overwritten. Pure. */
import { OutlastError, type BlockData, type EditData, type MergeData, type MergeHunk } from '@outlast/sdk'
import { chosenText, type Choice } from './review-hunks'
import type { Standing } from './review-standing'

/** A person's text in place of the proposed one. */
export interface Typed {
  text: string
  /** The proposed text when they started. */
  proposed: string
  /** The text of the document on which `proposed` was based. */
  seen: string
}

/** The initial text for changing an edit before accepting it. */
export const opening = (edit: EditData, standing: Standing): Typed =>
  standing.kind === 'merged'
    ? { text: standing.merge.text, proposed: standing.merge.text, seen: standing.merge.current }
    : { text: edit.new_text, proposed: edit.new_text, seen: edit.old_text }

/** The body of an acceptance with a changed text; empty if the text equals the proposal. */
export function decisionOf(edit: EditData, { text, proposed, seen }: Typed): { text?: string; old?: string } {
  if (text.trimEnd() === proposed.trimEnd()) return {}
  return edit.block_id === null ? { text } : { text, old: seen }
}

/** Two texts that cannot be merged automatically. `own`: the wanted text was written by the person who decides. */
interface Clash {
  merge: MergeData
  /** The author of the current text. */
  who: string
  own: boolean
}

const whoOf = (block: BlockData | undefined): string => block?.editor_name ?? 'Someone'

/** The conflict between an edit and the current text; null if it is not known yet. */
export function clashNow(edit: EditData, standing: Standing): Clash | null {
  if (standing.kind === 'asking' || standing.kind === 'failed') return null
  if (standing.kind !== 'fresh') return { merge: standing.merge, who: whoOf(standing.block), own: false }
  const { old_text: base, new_text: wanted } = edit
  const hunks: MergeHunk[] = [{ kind: 'wanted', base, current: base, wanted }]
  return { merge: { base, current: base, wanted, text: wanted, hunks }, who: 'Someone', own: false }
}

/** The conflict that the server reported between a person's own text and the current one; null for other errors. */
export function clashOf(reason: unknown, block: BlockData | undefined): Clash | null {
  if (!(reason instanceof OutlastError) || reason.code !== 'text_changed') return null
  const { base, current, wanted, hunks, editor_id } = reason.fields
  if (typeof base !== 'string' || typeof current !== 'string' || typeof wanted !== 'string') return null
  if (!Array.isArray(hunks) || hunks.length === 0) return null
  const known = block !== undefined && block.editor_id === editor_id
  const merge = { base, current, wanted, text: null, hunks: hunks as MergeHunk[] }
  return { merge, who: whoOf(known ? block : undefined), own: true }
}

/** A person's own text and the current one as a single conflict. */
export function clashWith(wanted: string, block: BlockData | undefined): Clash {
  const texts = { base: '', current: block?.markdown ?? '', wanted }
  return {
    merge: { ...texts, text: null, hunks: [{ kind: 'conflict', ...texts }] },
    who: whoOf(block),
    own: true,
  }
}

/** A person's progress in resolving a conflict. */
export interface Work {
  /** The conflict as it was when they started, even if the document changes. */
  clash: Clash
  choices: Readonly<Record<number, Choice>>
  /** The edited result; null: the result follows the choices. */
  written: string | null
  /** The text of the document when `written` was edited, if they have refreshed since. */
  before: string | null
}

export const begun = (clash: Clash): Work => ({ clash, choices: {}, written: null, before: null })

export const resultOf = ({ clash, choices, written }: Work): string => written ?? chosenText(clash.merge.hunks, choices)

/** The work with the refreshed conflict, and the previous result as its text. */
export function lookedAgain(work: Work, clash: Clash): Work {
  const { merge, own } = work.clash
  const chosen = Object.keys(work.choices).length > 0
  const written = work.written ?? (chosen ? resultOf(work) : own ? merge.wanted : null)
  return { ...begun(clash), written, before: written === null ? null : merge.current }
}

/** True if it contains text that is stored nowhere else. */
export const hasWords = ({ written, clash }: Work): boolean => written !== null || clash.own
