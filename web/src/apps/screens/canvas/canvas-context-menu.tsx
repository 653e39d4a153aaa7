import { useReactFlow } from '@xyflow/react'
import { Copy, ExternalLink, LayoutGrid, Maximize, MousePointerClick, Pencil, Plus, Trash2 } from 'lucide-react'
import { ContextMenu } from 'radix-ui'
import type { MouseEvent, ReactNode } from 'react'
import type { ScreenData } from '@outlast/sdk'
import { Kbd } from '@/components/kbd'
import { cn } from '@/lib/cn'
import { MOD } from '@/lib/key-bindings'
import { useCanvas } from './canvas-context'
import type { CanvasState } from './canvas-state'
import { tidy } from './placement'
import { openInTab } from './open-in-tab'
import { FIT, travel } from './keep-in-view'

interface MenuProps {
  screens: readonly ScreenData[]
  selected: readonly ScreenData[]
  state: CanvasState
  onNew: () => void
  children: ReactNode
}

/** The context menu of the canvas and its screens. */
export function CanvasContextMenu({ screens, selected, state, onNew, children }: MenuProps) {
  const { mayEdit, mayDelete, actions } = useCanvas()
  const { fitView } = useReactFlow()
  const aim = (event: MouseEvent) => {
    const id = (event.target as Element).closest('.react-flow__node')?.getAttribute('data-id') ?? null
    if (id === null) state.select([])
    else if (!state.selectedIds.includes(id)) state.select([id])
  }
  const one = selected.length === 1 ? selected[0] : undefined
  return (
    <ContextMenu.Root modal={false}>
      <ContextMenu.Trigger asChild onContextMenuCapture={aim}>
        <div className="absolute inset-0">{children}</div>
      </ContextMenu.Trigger>
      <ContextMenu.Portal>
        <ContextMenu.Content
          collisionPadding={8}
          className="z-50 min-w-52 rounded-xl border border-line bg-raised p-1 shadow-pop animate-in"
        >
          {one !== undefined && (
            <>
              <Item icon={<MousePointerClick />} keys="Enter" onSelect={() => actions.interact(one.id)}>
                Use
              </Item>
              <Item icon={<ExternalLink />} onSelect={() => openInTab(one.id)}>
                Open in a new tab
              </Item>
              {mayEdit && (
                <Item icon={<Pencil />} keys="F2" onSelect={() => setTimeout(() => actions.setRenaming(one.id))}>
                  Rename
                </Item>
              )}
            </>
          )}
          {mayEdit && selected.length > 0 && (
            <>
              <Item icon={<Copy />} keys={`${MOD} D`} onSelect={() => actions.duplicate(selected)}>
                Duplicate
              </Item>
              {selected.length > 1 && (
                <Item icon={<LayoutGrid />} onSelect={() => actions.place(tidy(selected))}>
                  Tidy up
                </Item>
              )}
              {mayDelete && (
                <>
                  <ContextMenu.Separator className="mx-1 my-1 h-px bg-line" />
                  <Item icon={<Trash2 />} keys="Del" danger onSelect={() => actions.askDelete(selected)}>
                    Delete
                  </Item>
                </>
              )}
            </>
          )}
          {selected.length === 0 && (
            <>
              {mayEdit && (
                <Item icon={<Plus />} keys="S" onSelect={() => setTimeout(onNew)}>
                  New screen
                </Item>
              )}
              <Item icon={<Maximize />} keys="1" onSelect={() => void fitView({ ...FIT, duration: travel() })}>
                Zoom to fit
              </Item>
              {mayEdit && screens.length > 1 && (
                <Item icon={<LayoutGrid />} onSelect={() => actions.place(tidy(screens))}>
                  Tidy up all
                </Item>
              )}
            </>
          )}
        </ContextMenu.Content>
      </ContextMenu.Portal>
    </ContextMenu.Root>
  )
}

interface ItemProps {
  icon: ReactNode
  keys?: string
  danger?: boolean
  onSelect: () => void
  children: ReactNode
}

const Item = ({ icon, keys, danger = false, onSelect, children }: ItemProps) => (
  <ContextMenu.Item
    onSelect={onSelect}
    className={cn(
      'flex items-center gap-2.5 rounded-md px-2 py-1.5 outline-none select-none data-highlighted:bg-hover [&_svg]:size-4 [&_svg]:text-faint',
      danger && 'text-danger [&_svg]:text-danger',
    )}
  >
    {icon}
    <span className="flex-1">{children}</span>
    {keys !== undefined && <Kbd>{keys}</Kbd>}
  </ContextMenu.Item>
)
