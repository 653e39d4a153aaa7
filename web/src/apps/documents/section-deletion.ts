import { Conflict, type DocumentStore } from '@outlast/sdk'

/** Deletes a section as it is shown; refused if another user has made changes that are not shown yet. The user's own
 * drafts are saved first, so that they count as seen. */
export async function deleteSection(store: DocumentStore, sectionId: string): Promise<void> {
  await saved(store)
  const { version } = store.get().content
  await store.change([{ op: 'delete_section', section_id: sectionId, seen: version }])
}

/** The server refused because the section contains changes that were not seen. */
export const isUnseen = (error: Error): boolean => error instanceof Conflict && error.code === 'text_changed'

const saved = (store: DocumentStore): Promise<void> =>
  new Promise((resolve) => {
    const look = () => {
      if (store.get().saving > 0) return
      stop()
      resolve()
    }
    const stop = store.subscribe(look)
    look()
  })
