import { ArrowLeftRight } from 'lucide-react'
import { useMemo, useState } from 'react'
import { Button } from '@/components/button'
import { WordDiff } from '@/components/word-diff'
import { cn } from '@/lib/cn'
import { composed, hunksOf, type Choice } from './merge-hunks'
import type { Meeting } from './editor-session'

interface MeetingViewProps {
  meeting: Meeting
  /** The current text of this user. */
  mine: string
  onResolve: (text: string, current: string) => void
  onTheirs: () => void
}

/** Another user changed the same words: shows both texts, a choice for each hunk, and the result. */
export function MergeView({ meeting, mine, onResolve, onTheirs }: MeetingViewProps) {
  const hunks = useMemo(() => hunksOf(meeting, mine), [meeting, mine])
  const [choices, setChoices] = useState<Readonly<Record<number, Choice>>>({})
  const [own, setOwn] = useState<string | null>(null)
  const merged = composed(hunks, choices)
  const text = own ?? merged
  const open = hunks.filter((hunk, at) => hunk.kind === 'conflict' && choices[at] === undefined).length
  return (
    <div
      role="group"
      aria-label="Two changes to the same text"
      data-meeting
      className="my-1 overflow-hidden rounded-xl border border-warn-line bg-raised text-[13.5px]"
    >
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-warn-line bg-warn-soft px-3.5 py-2">
        <ArrowLeftRight className="size-4 shrink-0 text-warn" aria-hidden />
        <p className="min-w-0 flex-1">
          <span className="font-medium">Someone changed the same text.</span>{' '}
          <span className="text-muted">Nothing is lost. Choose a version in each place, or edit the result.</span>
        </p>
      </header>
      <div className="grid gap-px bg-line sm:grid-cols-2">
        <Side title="Theirs, saved" base={meeting.base} text={meeting.current} />
        <Side title="Yours, not saved" base={meeting.base} text={mine} />
      </div>
      <ol aria-label="Conflicts" className="divide-y divide-line border-t border-line">
        {hunks.map((hunk, at) =>
          hunk.kind === 'conflict' ? (
            <li key={at} className="flex flex-col gap-1.5 px-3.5 py-2.5">
              {(['current', 'wanted', 'both'] as const).map((choice) => (
                <label
                  key={choice}
                  className={cn(
                    'flex cursor-pointer items-start gap-2.5 rounded-lg border px-2.5 py-1.5',
                    choices[at] === choice ? 'border-accent bg-accent-soft' : 'border-line hover:bg-hover',
                  )}
                >
                  <input
                    type="radio"
                    className="mt-1 accent-accent"
                    name={`place-${at}-${meeting.base.length}`}
                    checked={choices[at] === choice}
                    onChange={() => {
                      setChoices({ ...choices, [at]: choice })
                      setOwn(null)
                    }}
                  />
                  <span className="w-14 shrink-0 text-xs leading-5 text-faint">{NAMES[choice]}</span>
                  <span className="min-w-0 flex-1 [overflow-wrap:anywhere] whitespace-pre-wrap">
                    {composed([hunk], { 0: choice }).trim() || <em className="text-faint">deleted</em>}
                  </span>
                </label>
              ))}
            </li>
          ) : null,
        )}
      </ol>
      <div className="space-y-2 border-t border-line px-3.5 py-3">
        <label className="block">
          <span className="mb-1 block text-xs font-medium text-muted">Result</span>
          <textarea
            className="block-writing min-h-20 rounded-lg border border-line-strong! bg-bg! px-2.5! py-2! text-[14px]!"
            value={text}
            onChange={(event) => setOwn(event.target.value)}
            onKeyDown={(event) => event.stopPropagation()}
          />
        </label>
        <div className="flex flex-wrap items-center gap-2">
          <span className="min-w-0 flex-1 text-xs text-muted">
            {own === null && open > 0 ? 'Your version is used unless you choose another.' : ''}
          </span>
          <Button size="sm" look="ghost" onClick={onTheirs}>
            Use theirs
          </Button>
          <Button size="sm" look="primary" onClick={() => onResolve(text, meeting.current)}>
            Save
          </Button>
        </div>
      </div>
    </div>
  )
}

const NAMES: Record<Choice, string> = { current: 'Theirs', wanted: 'Yours', both: 'Both' }

const Side = ({ title, base, text }: { title: string; base: string; text: string }) => (
  <div className="bg-raised px-3.5 py-2.5">
    <p className="mb-1 text-xs font-medium text-faint">{title}</p>
    <WordDiff before={base} after={text} />
  </div>
)
