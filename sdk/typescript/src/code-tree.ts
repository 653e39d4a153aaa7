/** A list of files as a tree, with keyboard navigation. Pure. */

export interface TreeFile {
  kind: 'file'
  path: string
  name: string
  size: number
}
export interface TreeFolder {
  kind: 'folder'
  path: string
  name: string
  children: TreeNode[]
}
export type TreeNode = TreeFile | TreeFolder

/** One visible line of the tree. `level` counts from 1, `place` of `siblings` from 1, as ARIA does. */
export interface TreeRow {
  node: TreeNode
  level: number
  expanded: boolean
  place: number
  siblings: number
}

/** Folders before files, each by name, ignoring case. */
export function fileTree(files: readonly { path: string; size: number }[]): TreeNode[] {
  const top: TreeFolder = { kind: 'folder', path: '', name: '', children: [] }
  const folders = new Map([['', top]])
  for (const { path, size } of files) {
    const parts = path.split('/')
    const name = parts.pop() ?? path
    folderAt(folders, parts).children.push({ kind: 'file', path, name, size })
  }
  for (const folder of folders.values()) folder.children.sort(inOrder)
  return top.children
}

function folderAt(folders: Map<string, TreeFolder>, parts: string[]): TreeFolder {
  const path = parts.join('/')
  const known = folders.get(path)
  if (known !== undefined) return known
  const made: TreeFolder = { kind: 'folder', path, name: parts.at(-1) ?? '', children: [] }
  folders.set(path, made)
  folderAt(folders, parts.slice(0, -1)).children.push(made)
  return made
}

const order = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })
const inOrder = (a: TreeNode, b: TreeNode): number =>
  a.kind === b.kind ? order.compare(a.name, b.name) : a.kind === 'folder' ? -1 : 1

/** The visible lines of a tree with these folders open. */
export function visibleRows(nodes: readonly TreeNode[], expanded: ReadonlySet<string>, level = 1): TreeRow[] {
  return nodes.flatMap((node, at) => {
    const open = node.kind === 'folder' && expanded.has(node.path)
    const row = { node, level, expanded: open, place: at + 1, siblings: nodes.length }
    return open ? [row, ...visibleRows(node.children, expanded, level + 1)] : [row]
  })
}

/** The folders of a file, outermost first. */
export function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'))
}

export type TreeMove = { to: string } | { expand: string } | { collapse: string } | { open: string } | null

/** The action of a key in a tree, as on every desktop, or null if there is none. `at` is the focused path. */
export function treeKey(rows: readonly TreeRow[], at: string, key: string): TreeMove {
  const index = Math.max(
    0,
    rows.findIndex(({ node }) => node.path === at),
  )
  const row = rows[index]
  if (row === undefined) return null
  const to = (next: TreeRow | undefined): TreeMove => (next === undefined ? null : { to: next.node.path })
  switch (key) {
    case 'ArrowDown':
      return to(rows[index + 1])
    case 'ArrowUp':
      return to(rows[index - 1])
    case 'Home':
      return to(rows[0])
    case 'End':
      return to(rows.at(-1))
    case 'ArrowRight':
      if (row.node.kind === 'file') return null
      return row.expanded ? to(rows[index + 1]) : { expand: row.node.path }
    case 'ArrowLeft':
      if (row.expanded) return { collapse: row.node.path }
      return to(rows.slice(0, index).findLast(({ level }) => level < row.level))
    case 'Enter':
    case ' ':
      if (row.node.kind === 'file') return { open: row.node.path }
      return row.expanded ? { collapse: row.node.path } : { expand: row.node.path }
    default:
      return key.length === 1 ? to(startingWith(rows, index, key)) : null
  }
}

/** The next line whose name starts with a letter, wrapping around. */
function startingWith(rows: readonly TreeRow[], index: number, letter: string): TreeRow | undefined {
  const round = [...rows.slice(index + 1), ...rows.slice(0, index + 1)]
  return round.find(({ node }) => node.name.toLowerCase().startsWith(letter.toLowerCase()))
}
