/** Moving rows with the pointer: mouse, pen or finger. One line shows where the row would land; Escape cancels. */
import type { PointerEvent as ReactPointerEvent } from 'react'

interface DragOptions {
  /** The scrolling element that contains the candidates. */
  area: HTMLElement
  /** The candidates, in order. */
  selector: string
  /** The dragged elements, drawn paler during the drag. */
  items: readonly HTMLElement[]
  /** Called with the candidate after which the row was dropped (`top`: before the first). */
  onDrop: (target: HTMLElement, side: 'before' | 'after') => void
  /** Called if the pointer did not move: it was a click. */
  onClick?: () => void
}

const FAR_PX = 5
const EDGE_PX = 56

export function startDrag(event: ReactPointerEvent<HTMLElement>, options: DragOptions): void {
  if (event.button !== 0) return
  event.preventDefault()
  const handle = event.currentTarget
  const { pointerId, clientY: fromY, clientX: fromX } = event
  const line = document.createElement('div')
  line.className = 'drop-line'
  let dragging = false
  let pointerY = fromY
  let drop: { target: HTMLElement; side: 'before' | 'after' } | null = null
  let frame = 0

  const scroll = () => {
    const { top, bottom } = options.area.getBoundingClientRect()
    const by =
      pointerY < top + EDGE_PX
        ? pointerY - top - EDGE_PX
        : pointerY > bottom - EDGE_PX
          ? pointerY - bottom + EDGE_PX
          : 0
    if (by !== 0) {
      options.area.scrollTop += by / 5
      look()
    }
    frame = requestAnimationFrame(scroll)
  }
  const look = () => {
    const rows = [...options.area.querySelectorAll<HTMLElement>(options.selector)].filter(
      (row) => !options.items.includes(row) && row.offsetHeight > 0,
    )
    drop = nearest(rows, pointerY)
    if (drop === null) return
    const { top, bottom } = drop.target.getBoundingClientRect()
    const { left, width } = (drop.target.querySelector('.block-main') ?? drop.target).getBoundingClientRect()
    line.style.top = `${(drop.side === 'before' ? top : bottom) - 1}px`
    line.style.left = `${left}px`
    line.style.width = `${width}px`
  }
  const move = (moved: PointerEvent) => {
    if (moved.pointerId !== pointerId) return
    pointerY = moved.clientY
    if (!dragging && Math.hypot(moved.clientX - fromX, moved.clientY - fromY) < FAR_PX) return
    if (!dragging) {
      dragging = true
      document.body.append(line)
      document.body.classList.add('dragging-row')
      for (const item of options.items) item.dataset['dragged'] = ''
      frame = requestAnimationFrame(scroll)
    }
    look()
  }
  const end = (drops: boolean) => {
    removeEventListener('pointermove', move)
    removeEventListener('pointerup', up)
    removeEventListener('pointercancel', cancel)
    removeEventListener('keydown', key, true)
    cancelAnimationFrame(frame)
    line.remove()
    document.body.classList.remove('dragging-row')
    for (const item of options.items) delete item.dataset['dragged']
    if (handle.hasPointerCapture(pointerId)) handle.releasePointerCapture(pointerId)
    if (!dragging && drops) options.onClick?.()
    else if (drops && drop !== null) options.onDrop(drop.target, drop.side)
  }
  const up = (event: PointerEvent) => void (event.pointerId === pointerId && end(true))
  const cancel = (event: PointerEvent) => void (event.pointerId === pointerId && end(false))
  const key = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return
    event.preventDefault()
    event.stopPropagation()
    end(false)
  }
  handle.setPointerCapture(pointerId)
  addEventListener('pointermove', move)
  addEventListener('pointerup', up)
  addEventListener('pointercancel', cancel)
  addEventListener('keydown', key, true)
}

function nearest(rows: readonly HTMLElement[], y: number): { target: HTMLElement; side: 'before' | 'after' } | null {
  let best: { target: HTMLElement; side: 'before' | 'after' } | null = null
  let least = Number.POSITIVE_INFINITY
  for (const target of rows) {
    const { top, bottom } = target.getBoundingClientRect()
    for (const [side, edge] of [
      ['before', top],
      ['after', bottom],
    ] as const) {
      const away = Math.abs(edge - y)
      if (away < least) [least, best] = [away, { target, side }]
    }
  }
  return best
}
