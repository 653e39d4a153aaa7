import { Check, RefreshCw, RotateCcw } from 'lucide-react'
import { useMemo, type ReactNode } from 'react'
import type { BlockData, EditData, MergeHunk } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Dialog } from '@/components/dialog'
import { TextArea } from '@/components/field'
import { WordDiff } from '@/components/word-diff'
import { cn } from '@/lib/cn'
import { RefusedNote } from './review-actions'
import { conflictsIn, type Choice } from './review-hunks'
import { same } from './review-standing'
import { resultOf, type Work } from './review-seen'
import { useReview } from './use-review'

interface ConflictProps {
  edit: EditData
  /** The conflict as it was when the person opened it, and their choices so far. */
  work: Work
  /** The current block; null if it was deleted. */
  now: BlockData | null
  /** True if another user has decided meanwhile. */
  decided: boolean
  change: (work: Work) => void
  /** Loads the current text; undefined while that is in progress. */
  lookAgain?: () => void
  onClose: () => void
}

/** Current, proposed and resulting text side by side, with a choice wherever both changed the same words. The result
 * can be edited freely. */
export function ConflictDialog({ edit, work, now, decided, change, lookAgain, onClose }: ConflictProps) {
  const review = useReview()
  const { clash, choices, written, before } = work
  const { who, own } = clash
  const { hunks, current } = clash.merge
  const conflicts = useMemo(() => conflictsIn(hunks), [hunks])
  const text = resultOf(work)
  const left = conflicts.filter((at) => choices[at] === undefined).length
  const ready = !decided && text.trim() !== '' && (left === 0 || written !== null)
  const choose = (at: number, choice: Choice) =>
    change({ ...work, written: null, choices: { ...choices, [at]: choice } })
  const write = (words: string | null) => change({ ...work, written: words })
  const accept = () => {
    review.keepWork(edit.id, work)
    void review.decide(edit, 'accept', { text, old: current })
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={decided ? 'Already decided' : 'Conflicting changes'}
      description={`${who} changed this text ${own ? 'while you wrote' : 'after the agent read it'}. Choose a version in each place, or edit the result.`}
      className="sm:ml-[max(-32rem,-47vw)] sm:w-[min(64rem,94vw)]"
    >
      {decided ? (
        <Meanwhile>This edit is no longer open. You can still copy what you wrote.</Meanwhile>
      ) : now !== null && !same(now.markdown, current) ? (
        <Meanwhile {...(lookAgain !== undefined && { lookAgain })}>
          {now.editor_name ?? 'Someone'} changed the text again. The result is merged with that change, unless both
          changed the same text.
          <WordDiff before={current} after={now.markdown} className="mt-1.5 text-fg" />
        </Meanwhile>
      ) : before !== null ? (
        <Meanwhile>
          Your result is unchanged. Since you last edited it, the text has changed:
          <WordDiff before={before} after={current} className="mt-1.5 text-fg" />
        </Meanwhile>
      ) : null}
      <div className="grid gap-3 md:grid-cols-3">
        <Side title={`Now (${who})`} side="current" hunks={hunks} choices={choices} choose={choose} />
        <Side title={own ? 'Yours' : 'Proposed'} side="wanted" hunks={hunks} choices={choices} choose={choose} />
        <label className="flex min-w-0 flex-col">
          <span className="mb-1.5 text-xs font-medium text-faint">Result</span>
          <TextArea
            aria-label="Result"
            className="min-h-24 flex-1 resize-y md:min-h-40 bg-bg font-sans text-[13.5px] leading-relaxed"
            value={text}
            onChange={(event) => write(event.target.value)}
          />
        </label>
      </div>
      <ol className="mt-4 space-y-2" aria-label="Conflicts">
        {conflicts.map((at, number) => (
          <ChoiceRow
            key={at}
            number={number + 1}
            hunk={hunks[at]!}
            choice={choices[at]}
            own={own}
            choose={(one) => choose(at, one)}
          />
        ))}
      </ol>
      <RefusedNote edit={edit} />
      <div className="mt-4 flex flex-wrap items-center gap-2">
        <Button look="primary" disabled={!ready} onClick={accept}>
          <Check aria-hidden />
          Accept the result
        </Button>
        <Button disabled={decided} onClick={() => void review.decide(edit, 'reject')}>
          Keep {who}’s text
        </Button>
        {written !== null && (
          <Button look="ghost" onClick={() => write(null)}>
            <RotateCcw aria-hidden />
            Discard my edits
          </Button>
        )}
        <p role="status" className="ml-auto text-xs text-muted">
          {written !== null
            ? 'Edited by you'
            : left === 0
              ? 'All conflicts resolved'
              : `${left} of ${conflicts.length} conflicts left`}
        </p>
      </div>
    </Dialog>
  )
}

/** Changes since the person opened the dialog. */
const Meanwhile = ({ lookAgain, children }: { lookAgain?: () => void; children: ReactNode }) => (
  <div role="note" className="mb-3 rounded-lg border border-warn-line bg-warn-soft px-3 py-2 text-[12.5px] text-muted">
    {children}
    {lookAgain !== undefined && (
      <Button size="sm" className="mt-2 max-md:h-10" onClick={lookAgain}>
        <RefreshCw aria-hidden />
        Refresh
      </Button>
    )}
  </div>
)

interface SideProps {
  title: string
  side: 'current' | 'wanted'
  hunks: readonly MergeHunk[]
  choices: Readonly<Record<number, Choice>>
  choose: (at: number, choice: Choice) => void
}

function Side({ title, side, hunks, choices, choose }: SideProps) {
  return (
    <section className="min-w-0" aria-label={title}>
      <h3 className="mb-1.5 text-xs font-medium text-faint">{title}</h3>
      <div className="max-h-[40vh] overflow-y-auto md:min-h-40 rounded-lg border border-line bg-side px-3 py-2 leading-relaxed [overflow-wrap:anywhere] whitespace-pre-wrap">
        {hunks.map((hunk, at) => {
          const text = hunk[side]
          if (hunk.kind === 'conflict') {
            const taken = choices[at] === side || choices[at] === 'both'
            return (
              <span
                key={at}
                role="button"
                tabIndex={0}
                aria-pressed={taken}
                onClick={() => choose(at, side)}
                onKeyDown={(event) => {
                  if (event.key !== 'Enter' && event.key !== ' ') return
                  event.preventDefault()
                  choose(at, side)
                }}
                className={cn(
                  'cursor-pointer rounded-[3px] border box-decoration-clone px-0.5',
                  taken ? 'border-accent bg-accent-soft font-medium' : 'border-dashed border-warn bg-warn-soft',
                )}
              >
                {text.trim() === '' ? <em className="text-faint">nothing</em> : text}
              </span>
            )
          }
          const own = hunk.kind === side
          return own ? (
            <ins
              key={at}
              className="rounded-[3px] bg-added-soft text-added underline decoration-added/50 underline-offset-2"
            >
              {text}
            </ins>
          ) : (
            <span key={at}>{text}</span>
          )
        })}
      </div>
    </section>
  )
}

interface ChoiceRowProps {
  number: number
  hunk: MergeHunk
  choice: Choice | undefined
  own: boolean
  choose: (choice: Choice) => void
}

const CHOICES: [Choice, string][] = [
  ['current', 'Current'],
  ['wanted', 'Proposed'],
  ['both', 'Both'],
]

function ChoiceRow({ number, hunk, choice, own, choose }: ChoiceRowProps) {
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
      <span className="min-w-0 flex-1 truncate text-[12.5px] text-muted">
        {number}. <q>{displayText(hunk.current)}</q> or <q>{displayText(hunk.wanted)}</q>
      </span>
      <span role="radiogroup" aria-label={`Choice ${number}`} className="flex gap-1">
        {CHOICES.map(([name, label]) => (
          <button
            key={name}
            role="radio"
            aria-checked={choice === name}
            onClick={() => choose(name)}
            className={cn(
              'h-7 rounded-lg border px-2.5 text-[12.5px] max-md:h-10',
              choice === name ? 'border-accent bg-accent-soft font-medium' : 'border-line-strong hover:bg-hover',
            )}
          >
            {own && name === 'wanted' ? 'Yours' : label}
          </button>
        ))}
      </span>
    </li>
  )
}

const displayText = (text: string): string => text.trim() || 'nothing'
