import { useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react'
import { cn } from '@/lib/cn'
import type { Caret } from '../focus-store'
import { grow, useGrowing, write } from './auto-height'
import { isOneBlock, shapeOf, shapesFor, type Shape } from './block-types'
import { SlashMenu } from './slash-menu'
import { Toolbar } from './toolbar'
import { useEditorSession } from './use-editor-session'
import { enter, indent, markOf, marked, reshape, type Written } from './writing'

export interface EditorMoves {
  /** The caret moves out over the first or last line. */
  onLeave: (by: -1 | 1) => void
  /** Editing has ended and the block is shown again. `byKey`: by a key, not by a click elsewhere. */
  onDone: (byKey: boolean) => void
  /** The block ends at the caret; the rest begins a new block. */
  onSplit: (before: string, after: string) => void
  /** Backspace at the very beginning. */
  onBack: (text: string) => void
  onDelete: () => void
  /** Alt and an arrow key. */
  onMove: (by: -1 | 1) => void
}

interface BlockEditorProps extends EditorMoves {
  rowKey: string
  text: string
  caret: Caret
}

/** Edits a block's Markdown in place. Key presses render only this component. */
export function BlockEditor({ rowKey, text, caret, ...moves }: BlockEditorProps) {
  const session = useEditorSession()
  const box = useRef<HTMLTextAreaElement>(null)
  const [shape, setShape] = useState<Shape>(() => shapeOf(session.textOf(rowKey) ?? text))
  const [chosen, setChosen] = useState(0)
  const [initial] = useState(() => session.textOf(rowKey) ?? text)
  const [slash, setSlash] = useState<string | null>(() => slashQuery(initial))
  const shapes = shapesFor(slash ?? '')
  useGrowing(box)
  useDraftOf(rowKey, text, box)
  useCaret(rowKey, box, caret)

  const heard = () => {
    const element = box.current
    if (element === null) return
    grow(element)
    session.type(rowKey, element.value)
    setShape(shapeOf(element.value))
    setSlash(slashQuery(element.value))
    setChosen(0)
  }
  const here = (): Written => {
    const { value, selectionStart, selectionEnd } = box.current ?? { value: '', selectionStart: 0, selectionEnd: 0 }
    return { text: value, start: selectionStart, end: selectionEnd }
  }
  const put = ({ text, start, end }: Written) => {
    if (box.current !== null) write(box.current, text, start, end)
  }
  const become = (wanted: Shape) => {
    setSlash(null)
    put(reshape(slash === null ? here() : { text: '', start: 0, end: 0 }, wanted))
  }
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return
    const handled = slash !== null && inMenu(event) ? true : handleKey(event, here(), put, moves)
    if (!handled) return
    event.preventDefault()
    event.stopPropagation()
  }
  const inMenu = ({ key }: KeyboardEvent): boolean => {
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      setChosen((now) => (now + (key === 'ArrowDown' ? 1 : shapes.length - 1)) % Math.max(1, shapes.length))
      return true
    }
    if (key === 'Escape') {
      setSlash(null)
      return true
    }
    const shape = shapes[chosen]?.shape
    if ((key !== 'Enter' && key !== 'Tab') || shape === undefined) return false
    become(shape)
    return true
  }
  return (
    <div className="relative">
      <textarea
        ref={box}
        aria-label="Text of the block"
        data-writing={rowKey}
        defaultValue={initial}
        rows={1}
        spellCheck={shape !== 'code'}
        placeholder="Write, or type / for a list, heading, table …"
        className={cn(
          'block-writing',
          shape === 'code' || shape === 'table' ? 'block-writing-mono' : '',
          SIZES[shape] ?? '',
        )}
        onInput={heard}
        onKeyDown={press}
        onBlur={() => {
          setSlash(null)
          // Another window came to the front: the editor still has the focus here.
          if (document.activeElement === box.current) void session.save(rowKey)
          else moves.onDone(false)
        }}
      />
      {slash !== null && <SlashMenu shapes={shapes} chosen={chosen} onChoose={become} />}
      <Toolbar shape={shape} onShape={become} onMark={(mark) => put(marked(here(), mark))} onDelete={moves.onDelete} />
    </div>
  )
}

/** The text typed after a slash that begins an otherwise empty block. */
const slashQuery = (text: string): string | null => /^\/([\w ]{0,16})$/.exec(text)?.[1] ?? null

const SIZES: Partial<Record<Shape, string>> = {
  h1: 'text-[1.6em]! font-semibold',
  h2: 'text-[1.3em]! font-semibold',
  h3: 'text-[1.1em]! font-semibold',
}

/** Handles a key in a block. Returns true if it was handled. */
function handleKey(
  event: KeyboardEvent<HTMLTextAreaElement>,
  now: Written,
  put: (written: Written) => void,
  moves: EditorMoves,
): boolean {
  const { key, altKey, shiftKey } = event
  const mod = event.ctrlKey || event.metaKey
  const at = now.start === now.end ? now.start : -1
  if (key === 'Escape' || (key === 'Enter' && mod)) return (moves.onDone(true), true)
  if (altKey && !mod && (key === 'ArrowUp' || key === 'ArrowDown'))
    return (moves.onMove(key === 'ArrowUp' ? -1 : 1), true)
  const mark = mod && !altKey && !shiftKey ? markOf(key) : undefined
  if (mark !== undefined && shapeOf(now.text) !== 'code') return (put(marked(now, mark)), true)
  if (mod || altKey) return false
  if (key === 'Enter' && !shiftKey) {
    const next = enter(now)
    if (next.kind === 'write') put(next)
    else moves.onSplit(next.before, next.after)
    return true
  }
  if (key === 'Tab') {
    const moved = indent(now, shiftKey)
    if (moved !== null) put(moved)
    return moved !== null
  }
  if (key === 'Backspace' && at === 0 && !shiftKey) return (moves.onBack(now.text), true)
  if (key === 'ArrowUp' && at === 0 && !shiftKey) return (moves.onLeave(-1), true)
  if (key === 'ArrowDown' && at === now.text.length && !shiftKey) return (moves.onLeave(1), true)
  return false
}

/** The draft of the block, opened and closed with the editor, and updated with changes by others. */
function useDraftOf(key: string, text: string, box: React.RefObject<HTMLTextAreaElement | null>): void {
  const session = useEditorSession()
  const [first] = useState(text)
  useLayoutEffect(() => {
    session.open(key, first)
    const stop = session.show(key, (fresh) => {
      const element = box.current
      if (element === null || element.value === fresh) return
      const { selectionStart, value } = element
      const fromEnd = value.length - selectionStart
      const isCaretKept = value.slice(0, selectionStart) === fresh.slice(0, selectionStart)
      const caret = isCaretKept ? selectionStart : Math.max(0, fresh.length - fromEnd)
      element.value = fresh
      element.setSelectionRange(caret, caret)
      grow(element)
    })
    const shown = box.current
    return () => {
      stop()
      void session.close(key, shown?.selectionStart ?? null)
    }
  }, [session, key, first, box])
}

function useCaret(key: string, box: React.RefObject<HTMLTextAreaElement | null>, caret: Caret): void {
  const session = useEditorSession()
  const [first] = useState(caret)
  // Before the first paint, so that no key press is lost.
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    const { value } = element
    // In code, the caret goes before the closing fence.
    const end = shapeOf(value) === 'code' && isOneBlock(value) ? value.lastIndexOf('\n') : value.length
    // If the editor is rendered again in another place, the caret is restored.
    const wanted = session.caretOf(key) ?? first
    const at = wanted === 'start' ? 0 : wanted === 'end' ? end : Math.min(wanted, value.length)
    element.focus({ preventScroll: true })
    element.setSelectionRange(at, at)
    element.scrollIntoView({ block: 'nearest' })
  }, [session, key, box, first])
}
