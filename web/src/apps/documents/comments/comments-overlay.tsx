import { useEffect } from 'react'
import { useDocumentRoom, usePanel } from '../document-context'
import { SelectionBar } from './selection-bar'

/** Once a document: the bar over selected text, and what a click on marked words does. */
export function CommentsOverlay() {
  const { openPanel } = useDocumentRoom()
  const { tab, item } = usePanel()
  useEffect(() => {
    const life = new AbortController()
    const open = (event: MouseEvent) => {
      const mark = event.target instanceof Element ? event.target.closest('mark[data-comment]') : null
      const id = mark?.getAttribute('data-comment') ?? 'draft'
      if (id === 'draft' || getSelection()?.isCollapsed === false) return
      // Before the block under it takes the click for the wish to write.
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
