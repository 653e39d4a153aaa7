import { ArrowDown, ArrowUp, ClipboardCopy, GripVertical, Pencil, Plus, Trash2 } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { useState, type PointerEvent } from 'react'
import { MenuItem, MenuLine } from '@/components/menu'
import { complain, say } from '@/components/toast'
import { Tip } from '@/components/tooltip'
import { AboutItems } from './comments/about-items'
import { useDocumentRoom } from './document-context'
import { startDrag } from './block-drag'
import type { EditorMoves } from './editor/block-editor'
import { useEditorSession } from './editor/use-editor-session'
import { HEADING } from './editor/editor-session'
import { bodyOf, refused } from './use-row-moves'
import { rowOf } from './row-order'

interface BlockGutterProps {
  rowKey: string
  sectionId: string
  moves: EditorMoves
}

/** Left of a block: a button that adds a block below, and a handle that drags the block or opens its menu. */
export function BlockGutter({ rowKey, sectionId, moves }: BlockGutterProps) {
  const room = useDocumentRoom()
  const session = useEditorSession()
  const { focus, store } = room
  const [open, setOpen] = useState(false)
  const drag = (event: PointerEvent<HTMLElement>) => {
    const area = bodyOf()
    const row = area && rowOf(area, rowKey)
    if (!(area instanceof HTMLElement) || row === null || row === undefined) return
    const scroller = area
    startDrag(event, {
      area: scroller,
      selector: '[data-row]',
      items: [row],
      onClick: () => setOpen(true),
      onDrop: (target, side) => {
        const place = dropPlace(store, target, side)
        if (place === null) return
        void session.save(rowKey).then(() => {
          const block_id = store.idOf(rowKey)
          const after = place.after === block_id ? null : place.after
          return store.change([{ op: 'move_block', block_id, section_id: place.sectionId, after }]).catch(refused)
        })
      },
    })
  }
  const copy = () => {
    const text = session.textOf(rowKey) ?? store.get().content.blocks[store.idOf(rowKey)]?.markdown ?? ''
    navigator.clipboard.writeText(text).then(() => say('Copied'), complain)
  }
  return (
    <div className="block-gutter" onPointerDown={(event) => event.preventDefault()}>
      <Tip label="Add block below">
        <button
          aria-label="Add block below"
          className="gutter-button max-md:hidden"
          onClick={() => focus.edit(session.begin({ sectionId, after: rowKey }))}
        >
          <Plus aria-hidden />
        </button>
      </Tip>
      <DropdownMenu.Root open={open} onOpenChange={setOpen} modal={false}>
        <Tip label="Drag to move, click for options">
          <span className="relative">
            <DropdownMenu.Trigger className="absolute inset-0 -z-1" tabIndex={-1} aria-hidden />
            <button
              aria-label="Block options"
              aria-haspopup="menu"
              aria-expanded={open}
              data-handle
              className="gutter-button cursor-grab touch-none"
              onPointerDown={drag}
              onKeyDown={(event) =>
                (event.key === 'Enter' || event.key === ' ') && (event.preventDefault(), setOpen(true))
              }
            >
              <GripVertical aria-hidden />
            </button>
          </span>
        </Tip>
        <DropdownMenu.Portal>
          <DropdownMenu.Content
            align="start"
            sideOffset={6}
            collisionPadding={8}
            className="z-50 min-w-52 rounded-xl border border-line bg-raised p-1 shadow-pop animate-in"
          >
            <MenuItem onSelect={() => setTimeout(() => focus.edit(rowKey), 50)}>
              <Pencil />
              Edit
            </MenuItem>
            <MenuItem onSelect={() => moves.onMove(-1)}>
              <ArrowUp />
              Move up
            </MenuItem>
            <MenuItem onSelect={() => moves.onMove(1)}>
              <ArrowDown />
              Move down
            </MenuItem>
            <MenuItem onSelect={copy}>
              <ClipboardCopy />
              Copy as Markdown
            </MenuItem>
            <MenuLine />
            <AboutItems section_id={sectionId} block_id={store.idOf(rowKey)} />
            <MenuLine />
            <MenuItem danger onSelect={moves.onDelete}>
              <Trash2 />
              Delete
            </MenuItem>
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
    </div>
  )
}

/** The new place of a row that was dropped next to another one. */
function dropPlace(
  store: ReturnType<typeof useDocumentRoom>['store'],
  target: HTMLElement,
  side: 'before' | 'after',
): { sectionId: string; after: string | null } | null {
  const key = target.dataset['row'] ?? ''
  const { content } = store.get()
  if (key.startsWith(HEADING)) {
    const sectionId = store.idOf(key.slice(HEADING.length))
    if (side === 'after') return { sectionId, after: null }
    const before = content.order[content.order.indexOf(sectionId) - 1]
    const last = before === undefined ? undefined : content.sections[before]
    return last === undefined ? { sectionId, after: null } : { sectionId: last.id, after: last.blocks.at(-1) ?? null }
  }
  const id = store.idOf(key)
  const section = content.sections[content.blocks[id]?.section_id ?? '']
  if (section === undefined) return null
  const at = section.blocks.indexOf(id)
  return { sectionId: section.id, after: side === 'after' ? id : (section.blocks[at - 1] ?? null) }
}
