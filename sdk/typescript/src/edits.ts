/** Edits of a screen made by hand. Types as the server sends them, and the requests, as `client.edits`. */
import type { OutlastClient } from './client.ts'

export type EditKind = 'classes' | 'text' | 'attribute'

/** `loc`: where the element begins (`path:line:column`); `seen`: the value as it was read, `value`: the new one. */
export interface ScreenEdit {
  loc: string
  kind: EditKind
  attribute?: 'src' | 'alt'
  tag?: string
  seen: string | null
  value: string
}

/** `loc`: where its element begins now; `found`: what a stale edit met instead of what was seen. */
export interface EditResult {
  status: 'applied' | 'refused' | 'stale'
  loc: string
  code: string | null
  reason: string | null
  hint: string | null
  found: string | null
}

export interface SavedEdits {
  results: EditResult[]
  /** Holds them, and takes them back; null: nothing was changed. */
  checkpoint_id: string | null
}

export interface UndoneEdits {
  paths: string[]
  /** null: they were undone already. */
  checkpoint_id: string | null
}

export interface PlacedPicture {
  path: string
  src: string
  checkpoint_id: string | null
}

/** Why something cannot be edited by hand. */
export interface EditRefusal {
  code: string
  reason: string
  hint: string
}

/** `value`: what the source says (null: nothing yet); `partly`: code adds to it, and what it adds may win. */
export interface SourceValue {
  value: string | null
  partly: boolean
  refusal: EditRefusal | null
}

/** An element as its source has it. Where none was found, `refusal` says why and the rest is empty. */
export interface SourceElement {
  loc: string
  tag: string | null
  classes: SourceValue | null
  text: SourceValue | null
  attributes: Partial<Record<'src' | 'alt', SourceValue>>
  refusal: EditRefusal | null
}

/** `classes` by CSS property; `known`: what each class that was asked about says, null for one that does not exist. */
export interface StyleClasses {
  classes: Record<string, string>
  refused: Record<string, string>
  known: Record<string, Record<string, string> | null>
  /** Whether the project's own design system answered; otherwise these are arbitrary values. */
  design: boolean
}

export class Edits {
  constructor(readonly client: OutlastClient) {}

  /** Each is applied, refused or stale on its own; repeating is harmless. */
  save = (screenId: string, edits: ScreenEdit[]) =>
    this.client.json<SavedEdits>('POST', `/v1/screens/${screenId}/edits`, { body: { edits } })
  /** Takes back what was saved as one checkpoint. */
  undo = (screenId: string, checkpointId: string) =>
    this.client.json<UndoneEdits>('POST', `/v1/screens/${screenId}/edits/undo`, {
      body: { checkpoint_id: checkpointId },
    })
  /** Puts an uploaded image among the app's files; `src` is what its page calls it. */
  placePicture = (screenId: string, attachmentId: string) =>
    this.client.json<PlacedPicture>('POST', `/v1/screens/${screenId}/edits/pictures`, {
      body: { attachment_id: attachmentId },
    })
  inspect = (screenId: string, locs: string[], signal?: AbortSignal) =>
    this.client.json<{ items: SourceElement[] }>('POST', `/v1/screens/${screenId}/edits/inspect`, {
      body: { locs },
      signal,
    })
  /** CSS as classes of the project's own design system, and what classes say. */
  classes = (screenId: string, styles: Record<string, string>, classes: string[] = [], signal?: AbortSignal) =>
    this.client.json<StyleClasses>('POST', `/v1/screens/${screenId}/edits/classes`, {
      body: { styles, classes },
      signal,
    })
  /** CSS as classes with these very values, whatever the design system calls them. */
  exactClasses = (screenId: string, styles: Record<string, string>) =>
    this.client.json<StyleClasses>('POST', `/v1/screens/${screenId}/edits/classes`, { body: { styles, exact: true } })
}
