import { Check } from 'lucide-react'
import { useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { EditData } from '@outlast/sdk'
import { Button } from '@/components/button'
import { TextArea } from '@/components/field'
import { Kbd } from '@/components/kbd'
import { WordDiff } from '@/components/word-diff'
import { MOD } from '@/lib/keys'
import type { Standing } from './review-merge'
import { useReview } from './use-review'

interface EditorProps {
  edit: EditData
  standing: Standing
}

/** Changes what is proposed, then accepts it. Below: what of it is one's own. */
export function EditEditor({ edit, standing }: EditorProps) {
  const review = useReview()
  const merged = standing.kind === 'merged' ? standing : null
  const proposed = merged?.merge.text ?? edit.new_text
  const [text, setText] = useState(proposed)
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
    const changed = text.trimEnd() !== proposed.trimEnd()
    const seen = merged === null ? {} : { old: merged.block.markdown }
    void review.decide(edit, 'accept', changed ? { text, ...seen } : {})
  }
  const changed = useMemo(() => text !== proposed, [text, proposed])
  return (
    <div className="space-y-2">
      <TextArea
        ref={box}
        aria-label="Text to accept"
        className="resize-none text-[15px] leading-relaxed"
        value={text}
        onChange={(event) => setText(event.target.value)}
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
          <p className="mb-1 text-xs font-medium text-faint">What you changed of the proposal</p>
          <WordDiff before={proposed} after={text} className="text-[13px]" />
        </div>
      )}
      {empty && <p className="text-xs text-muted">Without a word there is nothing to accept. Reject it instead.</p>}
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
