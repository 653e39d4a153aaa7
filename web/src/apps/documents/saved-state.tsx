import { Check, CloudOff, LoaderCircle } from 'lucide-react'
import { useEffect, useSyncExternalStore } from 'react'
import { useSelected } from '@outlast/sdk/react'
import { useDocumentRoom } from './document-context'
import { useEditorSession } from './editor/use-editor-session'

/** In the document's header: whether all changes are saved. */
export function SavedState() {
  const { store } = useDocumentRoom()
  const session = useEditorSession()
  const saving = useSelected(store, (snapshot) => snapshot.saving > 0)
  const error = useSelected(store, (snapshot) => snapshot.error !== null)
  const unsaved = useSyncExternalStore(session.subscribe, session.unsaved)
  useEffect(() => {
    if (!unsaved) return
    const warn = (event: BeforeUnloadEvent) => {
      session.saveAll()
      event.preventDefault()
    }
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [unsaved, session])
  const [icon, words] = error
    ? [<CloudOff key="off" />, 'Offline']
    : saving
      ? [<LoaderCircle key="saving" className="animate-spin" />, 'Saving…']
      : unsaved
        ? [null, 'Not saved yet']
        : [<Check key="saved" />, 'Saved']
  return (
    <span
      role="status"
      data-saved={words}
      className="flex shrink-0 items-center gap-1 text-xs text-faint max-sm:hidden [&_svg]:size-3.5"
    >
      {icon}
      {words}
    </span>
  )
}
