import { Plus } from 'lucide-react'
import type { KeyboardEvent } from 'react'
import { Button } from '@/components/button'
import { BlockRow } from './block-row'
import { DocumentStart } from './block-slots'
import { DocumentTitle } from './document-title'
import { useDocumentRoom } from './document-context'
import { useEditorSession, useNewIn } from './editor/use-editor-session'
import { HEADING, NO_SECTION } from './editor/editor-session'
import { LostDrafts } from './lost-drafts'
import { neighbour } from './row-order'
import { SectionView } from './section-view'
import { useOrder } from './use-document'
import { bodyOf, moveBlock } from './use-row-moves'

const AT_ONCE = 2

/** The first text of a document that has no section yet. */
function Beginning() {
  return useNewIn(NO_SECTION).map((key) => <BlockRow key={key} rowKey={key} sectionId={NO_SECTION} first />)
}

/** Title and sections with their blocks. Arrow keys move between rows, Enter edits, Alt and an arrow key moves the
 * row. */
export function DocumentBody() {
  const room = useDocumentRoom()
  const session = useEditorSession()
  const order = useOrder()
  const { focus, store, mayEdit } = room
  const press = (event: KeyboardEvent<HTMLElement>) => {
    if (event.defaultPrevented || isWriting(event.target) || event.ctrlKey || event.metaKey) return
    const { id } = focus.get()
    const by = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : null
    if (by !== null && event.altKey && id !== null && mayEdit && !id.startsWith(HEADING))
      void moveBlock(room, session, id, by)
    else if (by !== null && !event.altKey) mark(neighbour(bodyOf(), id, by))
    else if (event.key === 'Enter' && id !== null && mayEdit) focus.edit(id)
    else if (event.key === 'Escape' && id !== null) focus.mark(null)
    else return
    event.preventDefault()
  }
  const mark = (key: string | null) => {
    if (key === null) return
    focus.mark(key)
    requestAnimationFrame(() =>
      document.querySelector(`[data-row="${CSS.escape(key)}"]`)?.scrollIntoView({ block: 'nearest' }),
    )
  }
  /** At the end of the text: in the last section, or in the first one of an empty document. */
  const writeOn = () => {
    const last = order.at(-1)
    const blocks = last === undefined ? [] : (store.get().content.sections[last]?.blocks ?? [])
    if (last !== undefined) {
      const end = session.newIn(last).at(-1) ?? blocks.map(store.keyOf).at(-1) ?? null
      focus.edit(session.begin({ sectionId: last, after: end }))
      return
    }
    focus.edit(session.newIn(NO_SECTION).at(-1) ?? session.begin({ sectionId: NO_SECTION, after: null }))
  }
  return (
    <article
      aria-label="Document"
      tabIndex={0}
      className="document-text outline-none"
      onKeyDown={press}
      onPointerDown={(event) => {
        if (event.target === event.currentTarget) focus.mark(null)
      }}
    >
      <DocumentTitle />
      <LostDrafts />
      <DocumentStart />
      <Beginning />
      {order.map((id, at) => (
        <SectionView key={store.keyOf(id)} sectionId={id} first={at < AT_ONCE} />
      ))}
      {mayEdit && (
        <div className="block-row">
          <div className="block-main">
            <Button look="ghost" size="sm" className="-ml-2.5 text-faint" onClick={writeOn}>
              <Plus />
              {order.length === 0 ? 'Start writing' : 'Write here'}
            </Button>
          </div>
        </div>
      )}
    </article>
  )
}

const isWriting = (target: EventTarget): boolean =>
  target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT|BUTTON|A)$/.test(target.tagName)
