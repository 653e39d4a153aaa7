import { useReactFlow } from '@xyflow/react'
import { useEffect, useRef } from 'react'
import type { ScreenData } from '@outlast/sdk'
import { MOD, useKeyBindings } from '@/lib/key-bindings'
import type { CanvasActions } from './canvas-context'
import type { CanvasState } from './canvas-state'
import type { Tool } from './canvas-toolbar'
import { useFrameRegistry } from './live-frame'
import { FIT, travel } from './keep-in-view'

/** The shortcuts that the help lists. */
export const SHORTCUTS: [group: string, rows: [keys: string, what: string][]][] = [
  [
    'Screens',
    [
      ['S', 'New screen'],
      ['Enter', 'Use the selected screen, or open it'],
      ['Esc', 'Stop using it, then clear the selection'],
      ['F2', 'Rename'],
      ['T', 'Theme'],
      ['R', 'Reload the app'],
      [`${MOD} D`, 'Duplicate'],
      ['Del', 'Delete'],
      ['← ↑ → ↓', 'Move; further with Shift'],
    ],
  ],
  [
    'View',
    [
      ['1', 'Zoom to fit'],
      ['2', 'Zoom to the selection'],
      ['0', '100 %'],
      ['+  −', 'Zoom in, out'],
      ['Space', 'Hold and drag to pan'],
      ['V  H', 'Select, pan'],
      ['M', 'Map'],
      ['C', 'Sidebar'],
    ],
  ],
  [
    'Selecting',
    [
      [`${MOD} A`, 'All screens'],
      ['Shift click', 'Add to or remove from the selection'],
      ['Drag', 'Select inside a rectangle'],
      ['Tab', 'Next screen'],
    ],
  ],
]

interface Keys {
  state: CanvasState
  selected: readonly ScreenData[]
  mayEdit: boolean
  mayDelete: boolean
  actions: CanvasActions
  onNew: () => void
  onTool: (tool: Tool) => void
  onHelp: () => void
  onMap: () => void
  onSidebar: () => void
}

const STEP = 8
const LEAP = 64
const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

/** The screen that has the keyboard focus, reached by Tab. */
const focusedScreen = (): string | null =>
  document.activeElement?.classList.contains('react-flow__node') === true
    ? document.activeElement.getAttribute('data-id')
    : null

const onControl = (): boolean => document.activeElement?.matches('button, a, [role=tab], [role=separator]') === true

/** Opens the themes from the sidebar if it is open, where they do not cover the frame they are previewed in. */
function openThemes(): void {
  const buttons = [...document.querySelectorAll<HTMLElement>('[data-theme-button]')]
  const beside = buttons.find((button) => button.closest('[data-screen-sidebar]') !== null)
  ;(beside ?? buttons[0])?.click()
}

/** The keyboard shortcuts of the canvas; the help lists them. */
export function useCanvasKeys(keys: Keys): void {
  const { state, selected, mayEdit, actions } = keys
  const { fitView, zoomTo, zoomIn, zoomOut } = useReactFlow()
  const { interactId, reload } = useFrameRegistry()
  const nudge = useNudge(actions)
  const one = selected.length === 1 ? selected[0] : undefined
  const view = (options: Parameters<typeof fitView>[0] = {}) => void fitView({ ...FIT, duration: travel(), ...options })
  const enter = () => {
    const focused = focusedScreen()
    if (focused !== null && !state.selectedIds.includes(focused)) return state.select([focused])
    if (one !== undefined) actions.interact(one.id)
  }
  const escape = () => {
    if (interactId !== null) return actions.interact(null)
    state.select([])
  }
  const edit = (act: () => void) => () => {
    if (mayEdit) act()
  }
  const arrow = (name: string) => (event: KeyboardEvent) => {
    if (!mayEdit || onControl()) return
    const [x, y] = ARROWS[name] as [number, number]
    const far = event.shiftKey ? LEAP : STEP
    nudge(selected, x * far, y * far)
  }
  const remove = () => {
    if (keys.mayDelete && selected.length > 0) actions.askDelete(selected)
  }
  useKeyBindings({
    s: edit(keys.onNew),
    v: () => keys.onTool('select'),
    h: () => keys.onTool('hand'),
    m: keys.onMap,
    c: keys.onSidebar,
    '?': keys.onHelp,
    '0': () => void zoomTo(1, { duration: travel() }),
    '1': () => view(),
    '2': () => selected.length > 0 && view({ nodes: selected.map(({ id }) => ({ id })) }),
    '+': () => void zoomIn({ duration: travel() }),
    '=': () => void zoomIn({ duration: travel() }),
    '-': () => void zoomOut({ duration: travel() }),
    'mod+a': () => state.select(state.nodes.map(({ id }) => id)),
    'mod+d': edit(() => selected.length > 0 && actions.duplicate(selected)),
    Delete: remove,
    Backspace: remove,
    F2: edit(() => one !== undefined && actions.setRenaming(one.id)),
    t: openThemes,
    r: () => one !== undefined && reload(one.id),
    Escape: escape,
    ...Object.fromEntries(Object.keys(ARROWS).map((name) => [name, arrow(name)])),
  })
  useEnter(enter)
  useFocusInView()
}

/** Enter belongs to buttons and links first. */
function useEnter(enter: () => void): void {
  const current = useRef(enter)
  useEffect(() => {
    current.current = enter
  })
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      const free = target === document.body || target.classList.contains('react-flow__node')
      if (event.key !== 'Enter' || !free) return
      event.preventDefault()
      current.current()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
}

/** Scrolls the element that Tab focuses into view. */
function useFocusInView(): void {
  const { fitView } = useReactFlow()
  useEffect(() => {
    const focus = ({ target }: FocusEvent) => {
      const node = target as HTMLElement
      if (!node.matches('.react-flow__node:focus-visible')) return
      const canvas = node.closest('[data-canvas]')?.getBoundingClientRect()
      const { left, top, right, bottom } = node.getBoundingClientRect()
      if (canvas === undefined) return
      const seen = right > canvas.left && left < canvas.right && bottom > canvas.top && top < canvas.bottom
      if (!seen) void fitView({ ...FIT, nodes: [{ id: node.dataset['id'] ?? '' }], duration: travel() })
    }
    addEventListener('focusin', focus)
    return () => removeEventListener('focusin', focus)
  }, [fitView])
}

/** Arrow keys: key presses in quick succession become one request, and one step for other people. */
function useNudge(actions: CanvasActions): (screens: readonly ScreenData[], dx: number, dy: number) => void {
  const { getNode, setNodes } = useReactFlow()
  const pending = useRef<{ timer: ReturnType<typeof setTimeout>; ids: string[] } | null>(null)
  return (screens, dx, dy) => {
    if (screens.length === 0) return
    const ids = screens.map(({ id }) => id)
    if (pending.current === null) actions.hold(ids)
    else clearTimeout(pending.current.timer)
    const moving = new Set(pending.current?.ids ?? ids)
    setNodes((nodes) =>
      nodes.map((node) =>
        moving.has(node.id) ? { ...node, position: { x: node.position.x + dx, y: node.position.y + dy } } : node,
      ),
    )
    const save = () => {
      pending.current = null
      const places = [...moving].flatMap((id) => {
        const node = getNode(id)
        return node === undefined
          ? []
          : [[id, { x: Math.round(node.position.x), y: Math.round(node.position.y) }] as const]
      })
      actions.place(new Map(places))
      actions.release([...moving])
    }
    pending.current = { timer: setTimeout(save, 400), ids: [...moving] }
  }
}
