import { useEffect } from 'react'
import type { DocumentStore } from '@outlast/sdk'
import type { FocusStore } from './focus-store'
import type { EditorSession } from './editor/editor-session'

const STILL_WRITING_MS = 3000
/** Repeats the presence before the server forgets it. */
const AGAIN_MS = 3500

/** Reports to the others at which block you are, and whether you are writing. */
export function usePresence(store: DocumentStore, focus: FocusStore, session: EditorSession): void {
  useEffect(() => {
    let typing = false
    let told = 0
    let timer: ReturnType<typeof setTimeout> | undefined
    const tell = (again = false) => {
      told = Date.now()
      const { id } = focus.get()
      const block = id === null ? undefined : store.get().content.blocks[store.idOf(id)]
      store.present({ block_id: block !== undefined && block.version > 0 ? block.id : null, typing }, again)
    }
    session.onTyping = () => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        typing = false
        tell()
      }, STILL_WRITING_MS)
      if (typing && Date.now() - told < AGAIN_MS) return
      typing = true
      tell()
    }
    const stop = focus.subscribe(() => tell())
    // Another tab of the same user may have reported that they left.
    const shown = () => void (document.visibilityState === 'visible' && tell(true))
    document.addEventListener('visibilitychange', shown)
    tell(true)
    return () => {
      stop()
      document.removeEventListener('visibilitychange', shown)
      clearTimeout(timer)
      session.onTyping = () => undefined
    }
  }, [store, focus, session])
}
