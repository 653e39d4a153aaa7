import { ChevronRight, Folder, FolderOpen } from 'lucide-react'
import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react'
import { treeKey, visibleRows, type TreeNode, type TreeRow } from '@outlast/sdk'
import { cn } from '@/lib/cn'
import { kindOf } from './file-kind'

interface FileTreeProps {
  nodes: TreeNode[]
  expanded: ReadonlySet<string>
  selected: string | null
  /** Files that changed while the tree was shown: marked. */
  changed: ReadonlySet<string>
  onToggle: (path: string) => void
  onOpen: (path: string) => void
}

/** Files and folders, with the keyboard navigation of a standard tree. */
export function FileTree({ nodes, expanded, selected, changed, onToggle, onOpen }: FileTreeProps) {
  const rows = useMemo(() => visibleRows(nodes, expanded), [nodes, expanded])
  const [focus, setFocus] = useState<string | null>(null)
  const list = useRef<HTMLDivElement>(null)
  const focusable = rows.some(({ node }) => node.path === focus) ? focus : (selected ?? rows[0]?.node.path)
  const moved = useRef(false)
  useEffect(() => {
    if (!moved.current || focus === null) return
    moved.current = false
    list.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(focus)}"]`)?.focus()
  }, [focus])
  const press = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return
    const move = treeKey(rows, focusable ?? '', event.key)
    if (move === null) return
    event.preventDefault()
    if ('open' in move) onOpen(move.open)
    else if ('to' in move) {
      moved.current = true
      setFocus(move.to)
    } else onToggle('expand' in move ? move.expand : move.collapse)
  }
  return (
    <div ref={list} role="tree" aria-label="Files" className="py-1" onKeyDown={press}>
      {rows.map((row) => (
        <Row
          key={row.node.path}
          row={row}
          isSelected={row.node.path === selected}
          isFocusable={row.node.path === focusable}
          isChanged={changed.has(row.node.path)}
          onFocus={() => setFocus(row.node.path)}
          onPress={() => (row.node.kind === 'folder' ? onToggle(row.node.path) : onOpen(row.node.path))}
        />
      ))}
    </div>
  )
}

interface RowProps {
  row: TreeRow
  isSelected: boolean
  isFocusable: boolean
  isChanged: boolean
  onFocus: () => void
  onPress: () => void
}

function Row({
  row: { node, level, expanded, place, siblings },
  isSelected,
  isFocusable,
  isChanged,
  onFocus,
  onPress,
}: RowProps) {
  const folder = node.kind === 'folder'
  const { icon: Icon, look } = folder ? { icon: expanded ? FolderOpen : Folder, look: 'text-link' } : kindOf(node.path)
  return (
    <div
      role="treeitem"
      aria-level={level}
      aria-posinset={place}
      aria-setsize={siblings}
      aria-selected={isSelected}
      {...(folder && { 'aria-expanded': expanded })}
      tabIndex={isFocusable ? 0 : -1}
      data-path={node.path}
      title={node.path}
      className={cn(
        'flex h-7 cursor-pointer items-center gap-1.5 pr-2 font-mono text-[12.5px] select-none pointer-coarse:h-10',
        isSelected ? 'bg-active' : 'hover:bg-hover',
      )}
      style={{ paddingLeft: `${0.5 + (level - 1) * 0.85}rem` }}
      onFocus={onFocus}
      onClick={onPress}
    >
      <ChevronRight
        className={cn(
          'size-3 shrink-0 text-faint transition-transform',
          expanded && 'rotate-90',
          !folder && 'invisible',
        )}
        aria-hidden
      />
      <Icon className={cn('size-3.5 shrink-0', look)} aria-hidden />
      <span className="min-w-0 truncate">{node.name}</span>
      {isChanged && (
        <span
          data-changed
          title="Changed while you were watching"
          className="ml-auto size-1.5 shrink-0 rounded-full bg-accent"
        />
      )}
    </div>
  )
}
