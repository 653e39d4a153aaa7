import { MoveRight } from 'lucide-react'
import { useState } from 'react'
import type { BlockDifference, DiffState, SectionDifference } from '@outlast/sdk'
import { WordDiff } from '@/components/word-diff'
import { cn } from '@/lib/cn'
import { plural } from '@/lib/format'
import { BlockText } from './block-text'

/** The difference between two versions: changed blocks word by word, unchanged ones folded. */
export const DocumentDiffView = ({ sections }: { sections: readonly SectionDifference[] }) => (
  <div data-document-diff>
    {sections.map((section) => (
      <Section key={section.id} section={section} />
    ))}
  </div>
)

function Section({ section }: { section: SectionDifference }) {
  const quiet = section.state === 'same' && section.blocks.every(({ state }) => state === 'same')
  const [open, setOpen] = useState(false)
  const before = section.heading_before ?? ''
  const after = section.heading_after ?? ''
  return (
    <section className="section-view">
      {(before !== '' || after !== '') && (
        <div className="block-row heading-row" data-level={2}>
          <div
            className={cn(
              'block-main flex items-center gap-2 text-[1.2rem] font-semibold tracking-tight',
              quiet && 'text-faint',
            )}
          >
            <WordDiff before={before} after={after} className="min-w-0" />
            <Mark state={section.state} />
          </div>
        </div>
      )}
      {quiet && !open
        ? section.blocks.length > 0 && <Folded count={section.blocks.length} onOpen={() => setOpen(true)} />
        : foldUnchanged(section.blocks, open).map((part) =>
            Array.isArray(part) ? (
              <Folded key={part[0]?.id} count={part.length} onOpen={() => setOpen(true)} />
            ) : (
              <Block key={part.id} block={part} />
            ),
          )}
    </section>
  )
}

/** Groups adjacent unchanged blocks. */
function foldUnchanged(blocks: readonly BlockDifference[], open: boolean): (BlockDifference | BlockDifference[])[] {
  if (open) return [...blocks]
  const parts: (BlockDifference | BlockDifference[])[] = []
  for (const block of blocks) {
    const last = parts.at(-1)
    if (block.state !== 'same') parts.push(block)
    else if (Array.isArray(last)) last.push(block)
    else parts.push([block])
  }
  return parts
}

const Folded = ({ count, onOpen }: { count: number; onOpen: () => void }) => (
  <div className="block-row">
    <button
      className="block-main block w-full rounded-md py-0.5 text-left text-xs text-faint hover:text-fg"
      onClick={onOpen}
    >
      {plural(count, 'unchanged block')} …
    </button>
  </div>
)

const EDGES: Record<DiffState, string> = {
  same: '',
  added: 'border-l-2 border-added pl-3 -ml-3.5',
  removed: 'border-l-2 border-removed pl-3 -ml-3.5',
  changed: 'border-l-2 border-amber pl-3 -ml-3.5',
  moved: 'border-l-2 border-accent pl-3 -ml-3.5',
}

const Block = ({ block }: { block: BlockDifference }) => (
  <div className="block-row" data-difference={block.state}>
    <div className="block-main">
      <div className={EDGES[block.state]}>
        {block.state === 'same' || (block.state === 'moved' && block.before === block.after) ? (
          <div className={cn(block.state === 'same' && 'opacity-60')}>
            <Mark state={block.state} />
            <BlockText text={block.after ?? ''} />
          </div>
        ) : (
          <WordDiff before={block.before ?? ''} after={block.after ?? ''} className="text-[15px] leading-[1.65]" />
        )}
      </div>
    </div>
  </div>
)

const WORDS: Record<DiffState, string> = { same: '', added: 'new', removed: 'deleted', changed: '', moved: 'moved' }
const COLOURS: Record<DiffState, string> = {
  same: '',
  added: 'bg-added-soft text-added',
  removed: 'bg-removed-soft text-removed',
  changed: '',
  moved: 'bg-accent-soft text-link',
}

const Mark = ({ state }: { state: DiffState }) =>
  WORDS[state] === '' ? null : (
    <span
      className={cn(
        'inline-flex shrink-0 items-center gap-1 rounded-full px-2 py-0.5 text-xs font-normal tracking-normal',
        COLOURS[state],
      )}
    >
      {state === 'moved' && <MoveRight className="size-3" aria-hidden />}
      {WORDS[state]}
    </span>
  )
