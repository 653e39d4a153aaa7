import { useLayoutEffect, type RefObject } from 'react'

const GROWS = typeof CSS !== 'undefined' && CSS.supports('field-sizing', 'content')

/** Makes a text box as high as its text in browsers that do not do this themselves. Call it when the text changed. */
export function grow(box: HTMLTextAreaElement): void {
  if (GROWS) return
  box.style.height = 'auto'
  box.style.height = `${box.scrollHeight}px`
}

export function useGrowing(ref: RefObject<HTMLTextAreaElement | null>): void {
  useLayoutEffect(() => {
    if (ref.current !== null) grow(ref.current)
  }, [ref])
}

/** Replaces the whole text, or a part of it, so that the browser's own undo includes the change. */
export function write(box: HTMLTextAreaElement, text: string, start: number, end: number): void {
  const now = box.value
  if (now !== text) {
    let from = 0
    while (from < now.length && from < text.length && now[from] === text[from]) from += 1
    let tail = 0
    const most = Math.min(now.length, text.length) - from
    while (tail < most && now[now.length - 1 - tail] === text[text.length - 1 - tail]) tail += 1
    box.focus()
    box.setSelectionRange(from, now.length - tail)
    const part = text.slice(from, text.length - tail)
    const done = part === '' ? document.execCommand('delete') : document.execCommand('insertText', false, part)
    if (!done) {
      box.setRangeText(part, from, now.length - tail, 'end')
      box.dispatchEvent(new Event('input', { bubbles: true }))
    }
  }
  box.setSelectionRange(start, end)
}
