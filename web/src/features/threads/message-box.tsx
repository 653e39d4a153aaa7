import { useEffect, useLayoutEffect, useRef, type ClipboardEvent } from 'react'
import { useMentions } from '@/features/mentions/mention-list'
import type { Mentionable } from '@/features/mentions/mention-text'

interface MessageBoxProps {
  value: string
  busy: boolean
  autoFocus: boolean
  /** A new number focuses the box, with the caret at its end. */
  focused?: number
  placeholder?: string | undefined
  /** People whom an `@` can mention. */
  people: readonly Mentionable[]
  onChange: (value: string) => void
  onPaste: (event: ClipboardEvent) => void
  onEnter: () => void
  /** Ctrl+Enter or ⌘+Enter. */
  onModEnter?: (() => void) | undefined
}

/** Takes the focus only if no element has it, or from the link that led here: never from a menu, nor on a phone, where
 * the keyboard covers the page. */
function mayTakeFocus(): boolean {
  const held = document.activeElement
  const free = held === null || held === document.body || held.matches('[data-thread-link], [data-nav-link]')
  return free && !matchMedia('(pointer: coarse)').matches
}

/** Grows with its text up to a third of the window. Enter sends; Shift+Enter, or Enter on a phone, starts a new
 * line. */
export function MessageBox(props: MessageBoxProps) {
  const {
    value,
    busy,
    autoFocus,
    focused = 0,
    placeholder = 'Write a message',
    people,
    onChange,
    onPaste,
    onEnter,
    onModEnter = onEnter,
  } = props
  const box = useRef<HTMLTextAreaElement>(null)
  const mentions = useMentions({ box, value, people, onChange })
  useLayoutEffect(() => {
    const area = box.current
    if (area === null) return
    area.style.height = 'auto'
    // An empty box is one line high; reading its height would cost a layout during rendering.
    if (value !== '') area.style.height = `${Math.min(area.scrollHeight, innerHeight / 3)}px`
  }, [value])
  useEffect(() => {
    if (autoFocus && mayTakeFocus()) box.current?.focus()
  }, [autoFocus])
  useEffect(() => {
    const area = box.current
    if (focused === 0 || area === null) return
    area.focus()
    area.setSelectionRange(area.value.length, area.value.length)
  }, [focused])
  return (
    <>
      <textarea
        ref={box}
        data-composer
        rows={1}
        aria-label="Message"
        placeholder={busy ? 'Queue a message, or send it now' : placeholder}
        className="block w-full resize-none bg-transparent px-4 pt-3.5 pb-2 text-[15px] leading-6 outline-none"
        value={value}
        onChange={(event) => (onChange(event.target.value), mentions.onCaret())}
        onSelect={mentions.onCaret}
        onBlur={mentions.onCaret}
        onPaste={onPaste}
        onKeyDown={(event) => {
          if (mentions.onKeyDown(event)) return
          const plain = !event.shiftKey && !event.nativeEvent.isComposing
          if (event.key === 'Escape') event.currentTarget.blur()
          if (event.key !== 'Enter' || !plain || matchMedia('(pointer: coarse)').matches) return
          event.preventDefault()
          if (event.ctrlKey || event.metaKey) onModEnter()
          else onEnter()
        }}
      />
      {mentions.list}
    </>
  )
}
