/** Edits of a screen made by hand: the requests, as `client.edits`. */
import type { PlacedPicture, SavedEdits, ScreenEdit, SourceElement, StyleClasses, UndoneEdits } from './api.gen.ts'
import type { OutlastClient } from './client.ts'

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
