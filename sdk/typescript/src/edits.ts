/** Requests about visual edits of a screen: `client.edits`. */
import type { PlacedPicture, SavedEdits, ScreenEdit, SourceElement, StyleClasses, UndoneEdits } from './api.gen.ts'
import type { OutlastClient } from './client.ts'

export class Edits {
  constructor(readonly client: OutlastClient) {}

  /** Each edit is applied, refused or stale separately; repeating is safe. */
  save = (screenId: string, edits: ScreenEdit[]) =>
    this.client.json<SavedEdits>('POST', `/v1/screens/${screenId}/edits`, { body: { edits } })
  /** Undoes the edits saved as one checkpoint. */
  undo = (screenId: string, checkpointId: string) =>
    this.client.json<UndoneEdits>('POST', `/v1/screens/${screenId}/edits/undo`, {
      body: { checkpoint_id: checkpointId },
    })
  /** Copies an uploaded image to the app's files; `src` is its URL in the page. */
  placePicture = (screenId: string, attachmentId: string) =>
    this.client.json<PlacedPicture>('POST', `/v1/screens/${screenId}/edits/pictures`, {
      body: { attachment_id: attachmentId },
    })
  inspect = (screenId: string, locs: string[], signal?: AbortSignal) =>
    this.client.json<{ items: SourceElement[] }>('POST', `/v1/screens/${screenId}/edits/inspect`, {
      body: { locs },
      signal,
    })
  /** Converts CSS to classes of the project's design system, and classes to CSS. */
  classes = (screenId: string, styles: Record<string, string>, classes: string[] = [], signal?: AbortSignal) =>
    this.client.json<StyleClasses>('POST', `/v1/screens/${screenId}/edits/classes`, {
      body: { styles, classes },
      signal,
    })
  /** Converts CSS to classes with exact values, without the design system's names. */
  exactClasses = (screenId: string, styles: Record<string, string>) =>
    this.client.json<StyleClasses>('POST', `/v1/screens/${screenId}/edits/classes`, { body: { styles, exact: true } })
}
