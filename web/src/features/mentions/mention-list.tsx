import { Bot } from 'lucide-react'
import { useLayoutEffect, useState, type KeyboardEvent, type RefObject } from 'react'
import { createPortal } from 'react-dom'
import { cn } from '@/lib/cn'
import { Avatar } from '@/features/shell/avatar'
import { AGENT, insertMention, mentionAt, suggestions, type Mentionable } from './mention-text'

const ROW_PX = 36
const MOST = 6
/** After this time a card that moves to its place has arrived. */
const MOVED_MS = 200

interface Mentions {
  /** Rendered next to the box while a mention is being typed. */
  list: React.ReactNode
  /** Returns true if the list handled the key. */
  onKeyDown: (event: KeyboardEvent<HTMLTextAreaElement>) => boolean
  /** Call it whenever text or caret may have changed. */
  onCaret: () => void
}

interface MentionsOptions {
  box: RefObject<HTMLTextAreaElement | null>
  value: string
  people: readonly Mentionable[]
  onChange: (value: string) => void
}

/** Suggests people and the agent while an `@` mention is typed in a text box. */
export function useMentions({ box, value, people, onChange }: MentionsOptions): Mentions {
  const [caret, setCaret] = useState<number | null>(null)
  const [at, setAt] = useState(0)
  const [closed, setClosed] = useState<number | null>(null)
  const named = caret === null ? null : mentionAt(value, caret)
  const matches = named === null || named.from === closed ? [] : suggestions(people, named.typed).slice(0, MOST)
  const open = matches.length > 0
  const index = Math.min(at, matches.length - 1)

  const choose = (one: Mentionable | undefined) => {
    if (one === undefined || named === null || caret === null) return
    const next = insertMention(value, named.from, caret, one.name)
    onChange(next.text)
    setCaret(null)
    setAt(0)
    requestAnimationFrame(() => {
      box.current?.focus()
      box.current?.setSelectionRange(next.caret, next.caret)
    })
  }
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>): boolean => {
    if (!open || event.nativeEvent.isComposing) return false
    if (event.key === 'ArrowDown') setAt((index + 1) % matches.length)
    else if (event.key === 'ArrowUp') setAt((index + matches.length - 1) % matches.length)
    else if (event.key === 'Enter' || event.key === 'Tab') choose(matches[index])
    else if (event.key === 'Escape') setClosed(named?.from ?? null)
    else return false
    event.preventDefault()
    event.stopPropagation()
    return true
  }
  const onCaret = () => {
    const area = box.current
    const next = area !== null && area.selectionStart === area.selectionEnd ? area.selectionStart : null
    if (next !== caret) setAt(0)
    setCaret(next)
    if (next === null || mentionAt(area?.value ?? '', next) === null) setClosed(null)
  }
  const list = open && <List box={box} found={matches} index={index} onHover={setAt} onChoose={choose} />
  return { list, onKeyDown, onCaret }
}

interface ListProps {
  box: RefObject<HTMLTextAreaElement | null>
  found: Mentionable[]
  index: number
  onHover: (index: number) => void
  onChoose: (one: Mentionable) => void
}

/** Below the box, or above it if there is no room. On top of everything, so that no panel clips it. */
function List({ box, found, index, onHover, onChoose }: ListProps) {
  const [style, setStyle] = useState<React.CSSProperties>({ visibility: 'hidden' })
  useLayoutEffect(() => {
    const place = () => {
      const rect = box.current?.getBoundingClientRect()
      if (rect === undefined) return
      const height = found.length * ROW_PX + 10
      const above = rect.bottom + height + 8 > innerHeight
      setStyle({
        left: Math.max(8, Math.min(rect.left, innerWidth - 248)),
        top: above ? Math.max(8, rect.top - height - 6) : rect.bottom + 6,
      })
    }
    place()
    const settled = setTimeout(place, MOVED_MS)
    addEventListener('resize', place)
    return () => (clearTimeout(settled), removeEventListener('resize', place))
  }, [box, found.length])
  return createPortal(
    <ul
      role="listbox"
      aria-label="Mention someone"
      data-mention-list
      style={style}
      className="pointer-events-auto fixed z-60 w-60 rounded-xl border border-line bg-raised p-1 shadow-pop animate-in"
    >
      {found.map((one, at) => (
        <li
          key={one.id}
          role="option"
          aria-selected={at === index}
          className={cn('flex h-9 items-center gap-2.5 rounded-lg px-2', at === index && 'bg-active')}
          onMouseMove={() => onHover(at)}
          // Not on click: the box has lost its focus by then.
          onPointerDown={(event) => (event.preventDefault(), onChoose(one))}
        >
          {one.id === AGENT.id ? (
            <AgentMark className="size-6" />
          ) : (
            <Avatar id={one.id} name={one.name} className="size-6 text-[10px]" />
          )}
          <span className="min-w-0 flex-1 truncate">{one.name}</span>
          {one.id === AGENT.id && <span className="text-xs text-faint">answers here</span>}
        </li>
      ))}
    </ul>,
    document.body,
  )
}

/** Takes the place of a person's avatar. */
export const AgentMark = ({ className }: { className?: string }) => (
  <span
    aria-hidden
    className={cn('inline-grid size-7 shrink-0 place-items-center rounded-full bg-accent-soft text-link', className)}
  >
    <Bot className="size-[62%]" />
  </span>
)
