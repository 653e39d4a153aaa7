import { useSyncExternalStore } from 'react'
import { Button } from '@/components/button'
import { CopyIcon } from '@/components/copy'
import { useDocumentRoom } from './document-context'
import { useEditorSession } from './editor/use-editor-session'

/** Unsaved text of blocks that another user deleted meanwhile. */
export function LostDrafts() {
  const session = useEditorSession()
  const { store, focus, mayEdit } = useDocumentRoom()
  const lost = useSyncExternalStore(session.subscribe, session.lost)
  const insert = (key: string) => {
    const { order, sections } = store.get().content
    const last = sections[order.at(-1) ?? '']
    if (last === undefined) return
    const newKey = session.revive(key, { sectionId: last.id, after: last.blocks.at(-1) ?? null })
    if (newKey !== null) focus.edit(newKey)
  }
  return lost.map((key) => (
    <div
      key={key}
      role="status"
      data-lost-draft
      className="lock-note mb-3 flex-wrap border border-warn-line bg-warn-soft"
    >
      <div className="min-w-0 basis-full sm:flex-1 sm:basis-auto">
        <p className="font-medium">The block you were writing in was deleted. Your text is kept:</p>
        <p className="mt-0.5 line-clamp-4 whitespace-pre-wrap text-muted">{session.textOf(key)}</p>
      </div>
      <CopyIcon label="Copy my text" text={session.textOf(key) ?? ''} />
      <Button size="sm" look="ghost" onClick={() => session.discard(key)}>
        Discard
      </Button>
      {mayEdit && (
        <Button size="sm" onClick={() => insert(key)}>
          Insert at the end
        </Button>
      )}
    </div>
  ))
}
