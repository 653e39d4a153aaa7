import { Bold, ChevronDown, Code, Italic, Link2, Strikethrough, Trash2, type LucideIcon } from 'lucide-react'
import { IconButton } from '@/components/button'
import { Menu, MenuItem } from '@/components/menu'
import { MOD } from '@/lib/key-bindings'
import { SHAPES, type Shape } from './block-types'
import { MARK_KEYS, type Mark } from './writing'

const MARKS: readonly { mark: Mark; label: string; icon: LucideIcon }[] = [
  { mark: 'bold', label: 'Bold', icon: Bold },
  { mark: 'italic', label: 'Italic', icon: Italic },
  { mark: 'code', label: 'Code', icon: Code },
  { mark: 'strike', label: 'Strikethrough', icon: Strikethrough },
  { mark: 'link', label: 'Link', icon: Link2 },
]

interface ToolbarProps {
  shape: Shape
  onShape: (shape: Shape) => void
  onMark: (mark: Mark) => void
  onDelete: () => void
}

/** Above the block that is being edited (below it on a phone). It never takes the caret out of the text. */
export function Toolbar({ shape, onShape, onMark, onDelete }: ToolbarProps) {
  const now = SHAPES.find((one) => one.shape === shape)
  return (
    <div
      role="toolbar"
      aria-label="Formatting"
      data-writing-tools
      className="absolute bottom-full left-0 z-10 mb-2 flex items-center gap-0.5 rounded-xl border border-line bg-raised p-1 shadow-pop max-md:static max-md:mt-2 max-md:mb-0 max-md:w-full max-md:overflow-x-auto max-md:shadow-none"
      onPointerDown={(event) => event.preventDefault()}
    >
      <Menu
        trigger={
          <button
            aria-label="Block type"
            className="flex h-7 shrink-0 items-center gap-1.5 rounded-md px-2 text-[12.5px] text-muted hover:bg-hover hover:text-fg pointer-coarse:h-9 [&_svg]:size-3.5"
          >
            {now !== undefined && <now.icon aria-hidden />}
            {now?.label ?? 'Text'}
            <ChevronDown className="opacity-60" aria-hidden />
          </button>
        }
      >
        {SHAPES.map(({ shape: one, label, icon: Icon }) => (
          <MenuItem key={one} checked={one === shape} onSelect={() => onShape(one)}>
            <Icon />
            {label}
          </MenuItem>
        ))}
      </Menu>
      <span aria-hidden className="mx-0.5 h-4 w-px shrink-0 bg-line" />
      {MARKS.map(({ mark, label, icon: Icon }) => (
        <IconButton
          key={mark}
          label={label}
          {...(MARK_KEYS[mark] !== undefined && { keys: `${MOD} ${MARK_KEYS[mark].toUpperCase()}` })}
          size="icon-sm"
          className="pointer-coarse:size-9"
          disabled={shape === 'code'}
          onClick={() => onMark(mark)}
        >
          <Icon />
        </IconButton>
      ))}
      <span aria-hidden className="mx-0.5 h-4 w-px shrink-0 bg-line" />
      <IconButton label="Delete block" size="icon-sm" className="pointer-coarse:size-9" onClick={onDelete}>
        <Trash2 />
      </IconButton>
    </div>
  )
}
