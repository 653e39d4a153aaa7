/** What somebody decides about is what they saw when they began. It is kept with what they write, and told with the
 * decision, so that whatever changed since is merged or shown, and never written over. Pure. */
import { OutlastError, type BlockData, type EditData, type MergeData, type MergeHunk } from '@outlast/sdk'
import { chosenText, type Choice } from './review-hunks'
import type { Standing } from './review-merge'

/** The words of a person in the place of what was proposed. */
export interface Typed {
  text: string
  /** What stood there when they began. */
  proposed: string
  /** The text of the document that `proposed` was made of. */
  seen: string
}

/** What one begins with who changes a proposed text before accepting it. */
export const opening = (edit: EditData, standing: Standing): Typed =>
  standing.kind === 'merged'
    ? { text: standing.merge.text, proposed: standing.merge.text, seen: standing.merge.current }
    : { text: edit.new_text, proposed: edit.new_text, seen: edit.old_text }

/** What is told with the acceptance of a typed text; nothing where it is what was proposed. */
export function decisionOf(edit: EditData, { text, proposed, seen }: Typed): { text?: string; old?: string } {
  if (text.trimEnd() === proposed.trimEnd()) return {}
  return edit.block_id === null ? { text } : { text, old: seen }
}

/** Two texts that do not come together by themselves. `own`: what is wanted are the words of the person who decides. */
interface Clash {
  merge: MergeData
  /** Who wrote what is there. */
  who: string
  own: boolean
}

const whoOf = (block: BlockData | undefined): string => block?.editor_name ?? 'Someone'

/** How an edit and the text are now, as what one decides about; null: it is not known yet. */
export function clashNow(edit: EditData, standing: Standing): Clash | null {
  if (standing.kind === 'asking' || standing.kind === 'failed') return null
  if (standing.kind !== 'fresh') return { merge: standing.merge, who: whoOf(standing.block), own: false }
  const { old_text: base, new_text: wanted } = edit
  const hunks: MergeHunk[] = [{ kind: 'wanted', base, current: base, wanted }]
  return { merge: { base, current: base, wanted, text: wanted, hunks }, who: 'Someone', own: false }
}

/** What the server could not bring together of a person's own text and the newest one; null: it said something else. */
export function clashOf(reason: unknown, block: BlockData | undefined): Clash | null {
  if (!(reason instanceof OutlastError) || reason.code !== 'text_changed') return null
  const { base, current, wanted, hunks, editor_id } = reason.fields
  if (typeof base !== 'string' || typeof current !== 'string' || typeof wanted !== 'string') return null
  if (!Array.isArray(hunks) || hunks.length === 0) return null
  const known = block !== undefined && block.editor_id === editor_id
  const merge = { base, current, wanted, text: null, hunks: hunks as MergeHunk[] }
  return { merge, who: whoOf(known ? block : undefined), own: true }
}

/** A person's own text beside the one that is there, as a whole. */
export function clashWith(wanted: string, block: BlockData | undefined): Clash {
  const texts = { base: '', current: block?.markdown ?? '', wanted }
  return {
    merge: { ...texts, text: null, hunks: [{ kind: 'conflict', ...texts }] },
    who: whoOf(block),
    own: true,
  }
}

/** How far somebody is with bringing a clash to an end. */
export interface Work {
  /** As it was when they began, whatever happens to the document. */
  clash: Clash
  choices: Readonly<Record<number, Choice>>
  /** null: the result is what was chosen. */
  written: string | null
  /** What the document said when `written` was written, where they have looked at newer text since. */
  before: string | null
}

export const begun = (clash: Clash): Work => ({ clash, choices: {}, written: null, before: null })

export const resultOf = ({ clash, choices, written }: Work): string => written ?? chosenText(clash.merge.hunks, choices)

/** The work with the text as it is now, and what was typed or chosen so far as the result. */
export function lookedAgain(work: Work, clash: Clash): Work {
  const { merge, own } = work.clash
  const chosen = Object.keys(work.choices).length > 0
  const written = work.written ?? (chosen ? resultOf(work) : own ? merge.wanted : null)
  return { ...begun(clash), written, before: written === null ? null : merge.current }
}

/** Whether there are words in it that are nowhere else. */
export const hasWords = ({ written, clash }: Work): boolean => written !== null || clash.own
