import { Conflict, type DocumentStore } from '@outlast/sdk'

/** Deletes a section as it is shown; refused where somebody wrote what is not shown yet. What one wrote oneself is saved
 * before, so that it counts as seen. */
export async function deleteSection(store: DocumentStore, sectionId: string): Promise<void> {
  await saved(store)
  const { version } = store.get().content
  await store.change([{ op: 'delete_section', section_id: sectionId, seen: version }])
}

/** Refused because there is something that was not seen. */
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
