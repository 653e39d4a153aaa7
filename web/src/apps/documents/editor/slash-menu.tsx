import { cn } from '@/lib/cn'
import type { Shape, SHAPES } from './block-types'

interface SlashMenuProps {
  shapes: typeof SHAPES
  chosen: number
  onChoose: (shape: Shape) => void
}

/** The block types offered after a slash. */
export const SlashMenu = ({ shapes, chosen, onChoose }: SlashMenuProps) => (
  <ul
    role="listbox"
    aria-label="Block type"
    className="absolute top-full left-0 z-20 mt-1 max-h-72 w-56 overflow-y-auto rounded-xl border border-line bg-raised p-1 shadow-pop animate-in"
    onPointerDown={(event) => event.preventDefault()}
  >
    {shapes.length === 0 && <li className="px-2 py-1.5 text-muted">No matching block type</li>}
    {shapes.map(({ shape, label, icon: Icon }, at) => (
      <li
        key={shape}
        role="option"
        aria-selected={at === chosen}
        ref={(element) => {
          if (at === chosen) element?.scrollIntoView({ block: 'nearest' })
        }}
        className={cn(
          'flex items-center gap-2.5 rounded-md px-2 py-1.5 pointer-coarse:py-2.5 [&_svg]:size-4 [&_svg]:text-faint',
          at === chosen ? 'bg-hover' : 'hover:bg-hover',
        )}
        onClick={() => onChoose(shape)}
      >
        <Icon aria-hidden />
        {label}
      </li>
    ))}
  </ul>
)
