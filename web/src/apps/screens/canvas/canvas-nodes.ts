import { applyNodeChanges, type Node, type NodeChange } from '@xyflow/react'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { ScreenData, ScreenPlace } from '@outlast/sdk'

export type ScreenNode = Node<{ screen: ScreenData }, 'screen'>

/** The node at the server's position of its screen; the same object if it is there already. */
function placeNode(node: ScreenNode, { x, y, width, height }: ScreenData): ScreenNode {
  const there = node.position.x === x && node.position.y === y && node.width === width && node.height === height
  return there ? node : { ...node, position: { x, y }, width, height }
}

const nodeOf = (screen: ScreenData, selected: boolean): ScreenNode => ({
  id: screen.id,
  type: 'screen',
  position: { x: screen.x, y: screen.y },
  width: screen.width,
  height: screen.height,
  data: { screen },
  ariaLabel: screen.title,
  selected,
})

/** The canvas after events about its screens. Unchanged nodes stay the same objects, so that they do not render;
 * screens that this user is moving (`held`) keep their place until the server has answered. Pure. */
export function mergeNodes(
  nodes: ScreenNode[],
  screens: readonly ScreenData[],
  held: ReadonlyMap<string, number>,
  selected: string | null,
): ScreenNode[] {
  const before = new Map(nodes.map((node) => [node.id, node]))
  const after = screens.map((screen) => {
    const node = before.get(screen.id)
    if (node === undefined) return nodeOf(screen, screen.id === selected)
    if (node.data.screen === screen) return node
    const news = { ...node, data: { screen }, ariaLabel: screen.title }
    return held.has(screen.id) ? news : placeNode(news, screen)
  })
  const same = after.length === nodes.length && after.every((node, index) => node === nodes[index])
  return same ? nodes : after
}

export const placeOf = ({ position, width, height }: ScreenNode): ScreenPlace => ({
  x: Math.round(position.x),
  y: Math.round(position.y),
  width: Math.round(width ?? 0),
  height: Math.round(height ?? 0),
})

interface CanvasNodes {
  nodes: ScreenNode[]
  selectedIds: readonly string[]
  onNodesChange: (changes: NodeChange<ScreenNode>[]) => void
  select: (ids: readonly string[]) => void
  /** Screens keep this user's position until `release` was called as often as `hold`. */
  hold: (ids: readonly string[]) => void
  release: (ids: readonly string[]) => void
}

/** The screens as nodes of the canvas; `first` is selected initially. */
export function useCanvasNodes(screens: readonly ScreenData[] | undefined, first: string | null): CanvasNodes {
  const [nodes, setNodes] = useState<ScreenNode[]>(() => mergeNodes([], screens ?? [], new Map(), first))
  const held = useRef(new Map<string, number>())
  const latest = useRef(screens)
  const wanted = useRef(first)
  const merge = useCallback(() => {
    setNodes((before) => mergeNodes(before, latest.current ?? [], held.current, wanted.current))
  }, [])
  useEffect(() => {
    latest.current = screens
    merge()
  }, [screens, merge])
  const onNodesChange = useCallback((changes: NodeChange<ScreenNode>[]) => {
    // Deleting is confirmed first; the event then removes the node.
    setNodes((before) =>
      applyNodeChanges(
        changes.filter(({ type }) => type !== 'remove'),
        before,
      ),
    )
  }, [])
  const select = useCallback((ids: readonly string[]) => {
    wanted.current = ids.length === 1 ? (ids[0] ?? null) : null
    setNodes((before) => withSelection(before, new Set(ids)))
  }, [])
  const hold = useCallback((ids: readonly string[]) => {
    for (const id of ids) held.current.set(id, (held.current.get(id) ?? 0) + 1)
  }, [])
  const release = useCallback((ids: readonly string[]) => {
    for (const id of ids) {
      const count = (held.current.get(id) ?? 1) - 1
      if (count > 0) held.current.set(id, count)
      else held.current.delete(id)
    }
    setNodes((before) => settled(before, latest.current ?? [], held.current))
  }, [])
  const key = nodes.flatMap(({ id, selected }) => (selected === true ? [id] : [])).join(' ')
  const [selectedIds, setSelectedIds] = useState<readonly string[]>([])
  if (selectedIds.join(' ') !== key) setSelectedIds(key === '' ? [] : key.split(' '))
  return { nodes, selectedIds, onNodesChange, select, hold, release }
}

function withSelection(nodes: ScreenNode[], ids: ReadonlySet<string>): ScreenNode[] {
  const change = nodes.some(({ id, selected }) => (selected === true) !== ids.has(id))
  return change
    ? nodes.map((node) =>
        (node.selected === true) === ids.has(node.id) ? node : { ...node, selected: ids.has(node.id) },
      )
    : nodes
}

/** Screens that are no longer held move to the server's position. Pure. */
export function settled(
  nodes: ScreenNode[],
  screens: readonly ScreenData[],
  held: ReadonlyMap<string, number>,
): ScreenNode[] {
  const truth = new Map(screens.map((screen) => [screen.id, screen]))
  return nodes.map((node) => {
    const screen = truth.get(node.id)
    return screen === undefined || held.has(node.id) ? node : placeNode(node, screen)
  })
}
