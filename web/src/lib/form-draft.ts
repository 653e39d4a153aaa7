import { useState } from 'react'

const drafts = new Map<string, string>()

/** Text that a person types into a form; null before they do. A form that is closed without sending keeps its text
 * until the page is closed; set it to null once it is sent. */
export function useFormDraft(name: string): [string | null, (text: string | null) => void] {
  const [text, setText] = useState(() => drafts.get(name) ?? null)
  const keep = (next: string | null) => {
    if (next === null) drafts.delete(name)
    else drafts.set(name, next)
    setText(next)
  }
  return [text, keep]
}
