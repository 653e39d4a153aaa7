import { Copy, LayoutGrid, Trash2 } from 'lucide-react'
import type { ScreenData } from '@outlast/sdk'
import { Button } from '@/components/button'
import { useCanvas } from './canvas-context'
import { tidy } from './placement'

/** Actions on several screens at once. */
export function SelectionBar({ selected }: { selected: readonly ScreenData[] }) {
  const { mayEdit, mayDelete, actions } = useCanvas()
  return (
    <div
      role="toolbar"
      aria-label="Selected screens"
      className="absolute top-4 left-1/2 z-10 flex -translate-x-1/2 items-center gap-1 rounded-2xl border border-line bg-raised p-1.5 pl-4 shadow-pop animate-in"
    >
      <span role="status" className="pr-2 font-medium tabular-nums">
        {selected.length} screens selected
      </span>
      {mayEdit && (
        <>
          <Button size="sm" look="ghost" onClick={() => actions.place(tidy(selected))}>
            <LayoutGrid />
            Tidy up
          </Button>
          <Button size="sm" look="ghost" onClick={() => actions.duplicate(selected)}>
            <Copy />
            Duplicate
          </Button>
          {mayDelete && (
            <Button size="sm" look="ghost" className="hover:text-danger" onClick={() => actions.askDelete(selected)}>
              <Trash2 />
              Delete
            </Button>
          )}
        </>
      )}
    </div>
  )
}
