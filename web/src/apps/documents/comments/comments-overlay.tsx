import { useEffect } from 'react'
import { useDocumentRoom, usePanel } from '../document-context'
import { SelectionBar } from './selection-bar'

/** Drawn once per document: the bar over selected text, and the handler for clicks on marked words. */
export function CommentsOverlay() {
  const { openPanel } = useDocumentRoom()
  const { tab, item } = usePanel()
  useEffect(() => {
    const life = new AbortController()
    const open = (event: MouseEvent) => {
      const mark = event.target instanceof Element ? event.target.closest('mark[data-comment]') : null
      const id = mark?.getAttribute('data-comment') ?? 'draft'
      if (id === 'draft' || getSelection()?.isCollapsed === false) return
      // Otherwise the block below would take the click and open its editor.
      event.stopPropagation()
      openPanel('comments', id)
    }
    document.addEventListener('click', open, { signal: life.signal, capture: true })
    return () => life.abort()
  }, [openPanel])
  return (
    <>
      <SelectionBar />
      {tab === 'comments' && item !== null && /^\w+$/.test(item) && (
        <style>{`mark[data-comment="${item}"] { background: color-mix(in srgb, var(--amber) 48%, transparent) }`}</style>
      )}
    </>
  )
}
