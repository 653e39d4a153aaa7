import { Heading } from 'lucide-react'
import { useState } from 'react'
import type { CommentData } from '@outlast/sdk'
import { Button } from '@/components/button'
import { useDocumentRoom } from '../document-context'
import { useOutline } from './comment-store'
import { placeName } from './place-name'

interface LinkPickerProps {
  comment: CommentData
  onChange: (sections: string[]) => void
  onDone: () => void
}

/** Picks the other sections that a comment is about. An agent that the comment is assigned to receives them too. */
export function LinkPicker({ comment, onChange, onDone }: LinkPickerProps) {
  const [linked, setLinked] = useState(comment.linked_sections)
  const others = useOutline().filter(({ id, heading }) => id !== comment.section_id && heading !== '')
  const toggle = (id: string) => {
    const next = linked.includes(id) ? linked.filter((one) => one !== id) : [...linked, id]
    setLinked(next)
    onChange(next)
  }
  return (
    <fieldset className="rounded-lg border border-line p-2">
      <legend className="px-1 text-xs text-muted">Linked sections</legend>
      {others.length === 0 && <p className="px-1 pb-1 text-muted">There are no other sections.</p>}
      <ul className="max-h-44 overflow-y-auto">
        {others.map(({ id, heading }) => (
          <li key={id}>
            <label className="flex items-center gap-2 rounded-md px-1.5 py-1 hover:bg-hover pointer-coarse:py-2">
              <input
                type="checkbox"
                className="size-4 accent-accent"
                checked={linked.includes(id)}
                onChange={() => toggle(id)}
              />
              <span className="truncate">{heading}</span>
            </label>
          </li>
        ))}
      </ul>
      <div className="flex justify-end pt-1">
        <Button size="sm" look="ghost" onClick={onDone}>
          Done
        </Button>
      </div>
    </fieldset>
  )
}

/** Links to the other sections that a comment is about. */
export function LinkedSections({ comment: { linked_sections } }: { comment: CommentData }) {
  const { scrollToSection } = useDocumentRoom()
  const sections = useOutline()
  const linked = linked_sections.filter((id) => sections.some((section) => section.id === id))
  if (linked.length === 0) return null
  return (
    <ul aria-label="Linked sections" className="flex flex-wrap gap-1">
      {linked.map((id) => (
        <li key={id} className="max-w-full">
          <button
            data-linked={id}
            className="flex max-w-full items-center gap-1 rounded-full bg-active px-2 py-0.5 text-xs text-muted hover:text-fg pointer-coarse:py-1.5"
            onClick={() => scrollToSection(id)}
          >
            <Heading className="size-3 shrink-0 text-faint" aria-hidden />
            <span className="truncate">{placeName(sections, { section_id: id, block_id: null })}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}
