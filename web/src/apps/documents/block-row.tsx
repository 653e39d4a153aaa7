import { memo, useRef, useState, type MouseEvent } from 'react'
import type { BlockData } from '@outlast/sdk'
import { useSelected } from '@outlast/sdk/react'
import { cn } from '@/lib/cn'
import { BlockGutter } from './block-gutter'
import { BlockBelow, BlockMargin, useBlockMarks, useIsCovered } from './block-slots'
import { BlockText } from './block-text'
import { positionOfClick } from './click-position'
import { useDocumentRoom } from './document-context'
import { DraftNote } from './draft-note'
import { BlockEditor } from './editor/block-editor'
import { useEditorSession, useDraftStatus } from './editor/use-editor-session'
import { useFocusOf } from './focus-store'
import { useSectionLock } from './section-lock'
import { useNearViewport } from './use-near-viewport'
import { PeopleAt } from './presence'
import { useRowMoves } from './use-row-moves'

interface BlockRowProps {
  rowKey: string
  sectionId: string
  /** Among the first blocks of the document: drawn at once. */
  first: boolean
}

/** One block, shown or edited in place. It renders independently of the other blocks. */
export const BlockRow = memo(function BlockRow({ rowKey, sectionId, first }: BlockRowProps) {
  const { store, focus, mayEdit } = useDocumentRoom()
  const session = useEditorSession()
  const block = useSelected(store, ({ content }) => content.blocks[store.idOf(rowKey)] ?? null)
  const standing = useFocusOf(rowKey)
  const status = useDraftStatus(rowKey)
  const { state: lock } = useSectionLock(sectionId)
  const [hovered, setHovered] = useState(false)
  const row = useRef<HTMLDivElement>(null)
  const near = useNearViewport(row, first)
  const moves = useRowMoves(rowKey, sectionId)
  const covered = useIsCovered(block?.id ?? '') && near
  const writable = mayEdit && lock !== 'theirs' && lock !== 'expired'
  const meeting = status?.state === 'conflict'
  const editing = standing === 'edited' && writable && !meeting
  const text = (status !== null && status.state !== 'clean' ? session.textOf(rowKey) : null) ?? block?.markdown ?? ''
  const known = block !== null && block.version > 0
  const open = (event: MouseEvent<HTMLElement>) => {
    if (!writable || meeting || event.defaultPrevented || event.button !== 0) return
    if (isForItself(event.target, event.currentTarget) || !(getSelection()?.isCollapsed ?? true)) return
    focus.edit(rowKey, positionOfClick(event, event.currentTarget, text))
  }
  return (
    <div
      ref={row}
      data-row={rowKey}
      {...(block !== null && { 'data-block-id': block.id })}
      data-kind={block?.kind}
      tabIndex={-1}
      aria-current={standing === 'marked' || undefined}
      className={cn('block-row group/row', editing && 'is-edited', standing === 'marked' && !meeting && 'is-marked')}
      onPointerEnter={(event) => event.pointerType === 'mouse' && setHovered(true)}
      onPointerLeave={() => setHovered(false)}
    >
      {writable && (hovered || standing !== 'none') && !meeting && (
        <BlockGutter rowKey={rowKey} sectionId={sectionId} moves={moves} />
      )}
      <div className={cn('block-main', block?.editor_kind === 'agent' && 'by-agent')}>
        {editing ? (
          <BlockEditor rowKey={rowKey} text={block?.markdown ?? ''} caret={focus.get().caret} {...moves} />
        ) : (
          !meeting &&
          !covered && (
            <div data-block-text className={cn(writable && 'cursor-text')} onClick={open}>
              {near ? (
                <Shown blockId={block?.id ?? rowKey} text={text} />
              ) : (
                <p className="prose whitespace-pre-wrap">{text}</p>
              )}
            </div>
          )
        )}
        {status !== null && <DraftNote status={status} present={block?.markdown ?? null} editing={editing} />}
        {known && near && <BlockBelow blockId={block.id} />}
      </div>
      {known && near && <BlockMargin blockId={block.id} />}
      {known && <PeopleAt blockId={block.id} />}
    </div>
  )
})

function Shown({ blockId, text }: { blockId: BlockData['id']; text: string }) {
  const marks = useBlockMarks(blockId)
  return <BlockText text={text === '' ? ' ' : text} rehype={marks} />
}

/** Links, buttons and checkboxes in a text keep their own action and do not open the block's editor. */
function isForItself(target: EventTarget, within: Element): boolean {
  const hit =
    target instanceof Element ? target.closest('a, button, input, textarea, select, summary, [role=button]') : null
  return hit !== null && within.contains(hit)
}
