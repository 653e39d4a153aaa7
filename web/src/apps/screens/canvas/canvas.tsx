import { ReactFlow, ReactFlowProvider, SelectionMode } from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import './canvas.css'
import { useCallback, useMemo, useRef, useState, type MouseEvent, type ReactNode } from 'react'
import { useStored } from '@/lib/local-storage'
import { CanvasContext, type CanvasFacts } from './canvas-context'
import { CanvasMap } from './canvas-map'
import { CanvasContextMenu } from './canvas-context-menu'
import { placeOf, type ScreenNode } from './canvas-nodes'
import { CanvasToolbar, type Tool } from './canvas-toolbar'
import type { CanvasState } from './canvas-state'
import { HelpDialog } from './help-dialog'
import { ScreenNodeView } from './screen-node'
import { SelectionBar } from './selection-bar'
import { useCanvasKeys } from './canvas-keys'
import { useLeaveInteraction } from './leave-interaction'
import { FIT } from './keep-in-view'
import { ZoomVariable } from './zoom-variable'

const NODE_TYPES = { screen: ScreenNodeView }
const NO_EDGES: never[] = []
const PRO = { hideAttribution: true }

interface CanvasProps {
  state: CanvasState
  facts: CanvasFacts
  onNew: () => void
  /** Shown over the canvas, such as a hint while it is empty. */
  children?: ReactNode
}

/** Pan, zoom, move, resize and select. During a drag, only the dragged screens render. */
export function Canvas(props: CanvasProps) {
  return (
    <CanvasContext value={props.facts}>
      <Surface {...props} />
    </CanvasContext>
  )
}

export const CanvasProvider = ReactFlowProvider

function Surface({ state, facts, onNew, children }: CanvasProps) {
  const { nodes, onNodesChange, selectedIds } = state
  const { mayEdit, mayDelete, actions } = facts
  const root = useRef<HTMLDivElement>(null)
  const [tool, setTool] = useState<Tool>('select')
  const [help, setHelp] = useState(false)
  const [mapStored, setMap] = useStored('outlast.canvas.map')
  const map = mapStored !== 'hidden'
  const showMap = (shown: boolean) => setMap(shown ? '' : 'hidden')
  const screens = useMemo(() => nodes.map(({ data }) => data.screen), [nodes])
  const selected = useMemo(() => screens.filter(({ id }) => selectedIds.includes(id)), [screens, selectedIds])
  const keys = { state, selected, mayEdit, mayDelete, actions, onNew, onTool: setTool, onHelp: () => setHelp(true) }
  useCanvasKeys({ ...keys, onMap: () => showMap(!map), onSidebar: state.toggleSidebar })
  useLeaveInteraction(root, actions.interact)
  const dragged = useDragging(actions)
  const openWith = useCallback(
    (_: unknown, node: ScreenNode) => {
      actions.interact(node.id)
    },
    [actions],
  )
  const { select } = state
  // A click on one of several selected screens selects that one.
  const single = useCallback(
    (event: MouseEvent, node: ScreenNode) => {
      if (!event.shiftKey && !event.metaKey && !event.ctrlKey) select([node.id])
    },
    [select],
  )
  return (
    <div
      ref={root}
      data-canvas
      data-tool={tool}
      className="canvas relative min-w-0 flex-1 overflow-hidden bg-(--canvas)"
    >
      <CanvasContextMenu screens={screens} selected={selected} state={state} onNew={onNew}>
        <ReactFlow<ScreenNode>
          nodes={nodes}
          edges={NO_EDGES}
          nodeTypes={NODE_TYPES}
          onNodesChange={onNodesChange}
          {...dragged}
          onNodeClick={single}
          onNodeDoubleClick={openWith}
          nodesDraggable={mayEdit && tool === 'select'}
          nodesConnectable={false}
          elementsSelectable={tool === 'select'}
          selectionOnDrag={tool === 'select' && !isTouch}
          selectionMode={SelectionMode.Partial}
          multiSelectionKeyCode={MULTI}
          selectionKeyCode={null}
          deleteKeyCode={null}
          panOnDrag={tool === 'hand' || isTouch ? true : MIDDLE}
          panOnScroll
          zoomOnDoubleClick={false}
          minZoom={0.05}
          maxZoom={2}
          nodeDragThreshold={3}
          elevateNodesOnSelect
          disableKeyboardA11y
          fitView
          fitViewOptions={state.first === null ? FIT : { ...FIT, nodes: [{ id: state.first }] }}
          proOptions={PRO}
          aria-label="Screens"
        >
          <ZoomVariable of={root} />
          {map && <CanvasMap screens={nodes.length} />}
        </ReactFlow>
      </CanvasContextMenu>
      {selected.length > 1 && <SelectionBar selected={selected} />}
      <CanvasToolbar
        tool={tool}
        onTool={setTool}
        map={map}
        onMap={showMap}
        liveCount={state.liveCount}
        onLiveCount={state.setLiveCount}
        onHelp={() => setHelp(true)}
      />
      {children}
      <HelpDialog open={help} onClose={() => setHelp(false)} />
    </div>
  )
}

const MULTI = ['Shift', 'Meta', 'Control']
const MIDDLE = [1]
const isTouch = matchMedia('(pointer: coarse)').matches

/** A dragged screen is held until it is dropped; one request moves all of them. */
function useDragging(actions: CanvasFacts['actions']) {
  return useMemo(() => {
    const start = (nodes: readonly ScreenNode[]) => {
      actions.interact(null)
      actions.hold(nodes.map(({ id }) => id))
    }
    const stop = (nodes: readonly ScreenNode[]) => {
      actions.place(new Map(nodes.map((node) => [node.id, placeOf(node)])))
      actions.release(nodes.map(({ id }) => id))
    }
    return {
      onNodeDragStart: (_event: unknown, _node: ScreenNode, nodes: ScreenNode[]) => start(nodes),
      onNodeDragStop: (_event: unknown, _node: ScreenNode, nodes: ScreenNode[]) => stop(nodes),
      onSelectionDragStart: (_event: unknown, nodes: ScreenNode[]) => start(nodes),
      onSelectionDragStop: (_event: unknown, nodes: ScreenNode[]) => stop(nodes),
    }
  }, [actions])
}
