import { useEffect, useLayoutEffect, useRef, type KeyboardEvent } from 'react'
import { cn } from '@/lib/cn'
import { useMentions } from './mention-list'
import type { Mentionable } from './mention-text'

interface MentionAreaProps {
  label: string
  placeholder: string
  value: string
  people: readonly Mentionable[]
  onChange: (value: string) => void
  /** With Ctrl or ⌘ and Enter. */
  onSend: () => void
  onEscape?: () => void
  autoFocus?: boolean
  className?: string
}

/** A text box that grows with its text, with `@` mentions. */
export function MentionArea(props: MentionAreaProps) {
  const { label, placeholder, value, people, onChange, onSend, onEscape, autoFocus = false, className } = props
  const box = useRef<HTMLTextAreaElement>(null)
  const { list, onKeyDown, onCaret } = useMentions({ box, value, people, onChange })
  useLayoutEffect(() => {
    const area = box.current
    if (area === null) return
    area.style.height = 'auto'
    area.style.height = `${Math.min(area.scrollHeight + 2, innerHeight / 3)}px`
  }, [value])
  useEffect(() => {
    const area = box.current
    if (!autoFocus || area === null) return
    area.focus({ preventScroll: true })
    area.setSelectionRange(area.value.length, area.value.length)
  }, [autoFocus])
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (onKeyDown(event)) return
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) {
      event.preventDefault()
      onSend()
    } else if (event.key === 'Escape' && onEscape !== undefined) {
      event.stopPropagation()
      onEscape()
    }
  }
  return (
    <>
      <textarea
        ref={box}
        rows={1}
        aria-label={label}
        placeholder={placeholder}
        className={cn(
          'block w-full resize-none rounded-lg border border-line-strong bg-bg px-2.5 py-1.5 leading-5 transition-[border-color,box-shadow] outline-none focus:border-accent focus:ring-3 focus:ring-accent/15',
          className,
        )}
        value={value}
        onChange={(event) => (onChange(event.target.value), onCaret())}
        onSelect={onCaret}
        onBlur={onCaret}
        onKeyDown={press}
      />
      {list}
    </>
  )
}
