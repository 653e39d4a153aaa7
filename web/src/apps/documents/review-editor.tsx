import { Check } from 'lucide-react'
import { useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { EditData } from '@outlast/sdk'
import { Button } from '@/components/button'
import { TextArea } from '@/components/field'
import { Kbd } from '@/components/kbd'
import { WordDiff } from '@/components/word-diff'
import { MOD } from '@/lib/key-bindings'
import { useNow } from './review-facts'
import { RefusedNote } from './review-actions'
import { same, type Standing } from './review-standing'
import { decisionOf, opening } from './review-seen'
import { useReview } from './use-review'

interface EditorProps {
  edit: EditData
  standing: Standing
}

/** Changes a proposed text, then accepts it. Below: your own changes to it. */
export function EditEditor({ edit, standing }: EditorProps) {
  const review = useReview()
  // The initial text stays the basis of the changes, even if the document changes meanwhile.
  const [start] = useState(() => review.typed(edit.id) ?? opening(edit, standing))
  const { proposed, seen } = start
  const [text, setText] = useState(start.text)
  const now = useNow(edit)
  const box = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => {
    const area = box.current
    area?.focus({ preventScroll: true })
    area?.setSelectionRange(area.value.length, area.value.length)
  }, [])
  useLayoutEffect(() => {
    const area = box.current
    if (area === null) return
    area.style.height = 'auto'
    area.style.height = `${Math.min(area.scrollHeight + 2, innerHeight * 0.5)}px`
  }, [text])
  const empty = text.trim() === ''
  const accept = () => {
    if (empty) return
    void review.decide(edit, 'accept', decisionOf(edit, { text, proposed, seen }))
  }
  const write = (written: string) => {
    setText(written)
    review.keepTyped(edit.id, { text: written, proposed, seen })
  }
  const changed = useMemo(() => text !== proposed, [text, proposed])
  return (
    <div className="space-y-2">
      <TextArea
        ref={box}
        aria-label="Text to accept"
        className="resize-none text-[15px] leading-relaxed"
        value={text}
        onChange={(event) => write(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') {
            event.stopPropagation()
            review.stopEditing()
          } else if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) {
            event.preventDefault()
            accept()
          }
        }}
      />
      {changed && (
        <div className="rounded-lg bg-side px-3 py-2">
          <p className="mb-1 text-xs font-medium text-faint">Your changes to the proposal</p>
          <WordDiff before={proposed} after={text} className="text-[13px]" />
        </div>
      )}
      {now !== null && !same(now.markdown, seen) && (
        <p role="note" className="text-xs text-muted">
          {now.editor_name ?? 'Someone'} changed this text after it was proposed. Accepting merges both.
        </p>
      )}
      <RefusedNote edit={edit} />
      {empty && <p className="text-xs text-muted">There is no text to accept. Reject the edit instead.</p>}
      <div className="flex flex-wrap gap-1.5">
        <Button size="sm" look="primary" className="max-md:h-11 max-md:flex-1" disabled={empty} onClick={accept}>
          <Check aria-hidden />
          {changed ? 'Accept as edited' : 'Accept'}
          <Kbd className="border-accent-fg/35 text-accent-fg/80">{MOD} ↵</Kbd>
        </Button>
        <Button size="sm" className="max-md:h-11 max-md:flex-1" onClick={review.stopEditing}>
          Cancel
          <Kbd>Esc</Kbd>
        </Button>
      </div>
    </div>
  )
}
