import { useMutation } from '@tanstack/react-query'
import { CircleHelp, ExternalLink } from 'lucide-react'
import { useState } from 'react'
import type { Answers, Question, QuestionItem } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Input } from '@/components/field'
import { Problem } from '@/components/problem'
import { cn } from '@/lib/cn'
import { client } from '@/lib/queries'
import { ClockNote } from './clock-note'
import { useOpenThread, useThreadFacts } from './thread-context'

/** A question of the agent that it needs answered before it continues. */
export function QuestionCard({ question }: { question: Question }) {
  const { open } = useOpenThread()
  const { mayWrite } = useThreadFacts()
  const run = open.runs[question.run_id]
  const [answers, setAnswers] = useState<Answers>({})
  const send = useMutation({ mutationFn: () => client.answer(question.id, answers) })
  const complete = question.questions.every(({ id, optional }) => optional || (answers[id] ?? '').length > 0)
  return (
    <form
      aria-label="Question"
      data-question={question.id}
      className="overflow-hidden rounded-xl border border-line-strong bg-raised"
      onSubmit={(event) => {
        event.preventDefault()
        if (complete) send.mutate()
      }}
    >
      <header className="flex items-center gap-2.5 border-b border-line bg-accent-soft px-3.5 py-2.5">
        <CircleHelp className="size-4.5 shrink-0 text-link" aria-hidden />
        <h2 className="flex-1 font-medium">The agent asks</h2>
        {run !== undefined && run.status === 'awaiting_approval' && (
          <ClockNote run={run} className="shrink-0 text-right text-xs text-muted" />
        )}
      </header>
      <div className="space-y-4 p-3.5">
        {question.questions.map((item) => (
          <Item
            key={item.id}
            item={item}
            disabled={!mayWrite || send.isPending}
            value={answers[item.id]}
            onChange={(value) => setAnswers({ ...answers, [item.id]: value })}
          />
        ))}
        {send.error !== null && <Problem error={send.error} />}
        {mayWrite ? (
          <Button type="submit" look="primary" busy={send.isPending} disabled={!complete}>
            Answer
          </Button>
        ) : (
          <p className="text-xs text-muted">Only an owner, or an editor who drives this thread, can answer.</p>
        )}
      </div>
    </form>
  )
}

interface ItemProps {
  item: QuestionItem
  disabled: boolean
  value: string | string[] | undefined
  onChange: (value: string | string[]) => void
}

/** One question with its options, a field for an own answer, or the link that is to be opened. */
export function Item({ item, disabled, value, onChange }: ItemProps) {
  const chosen = Array.isArray(value) ? value : value === undefined ? [] : [value]
  const toggle = (option: string) => {
    if (!item.multiple) onChange(option)
    else onChange(chosen.includes(option) ? chosen.filter((other) => other !== option) : [...chosen, option])
  }
  const own = chosen.find((answer) => !item.options.includes(answer)) ?? ''
  const write = (text: string) => {
    if (!item.multiple) return onChange(text)
    const listed = chosen.filter((answer) => item.options.includes(answer))
    onChange(text === '' ? listed : [...listed, text])
  }
  return (
    <fieldset disabled={disabled}>
      <legend className="mb-2 text-[14.5px]">{item.question}</legend>
      {/^https?:\/\//i.test(item.url) && (
        <a
          href={item.url}
          target="_blank"
          rel="noopener noreferrer"
          className="mb-2 inline-flex max-w-full items-center gap-1.5 text-link hover:underline"
        >
          <ExternalLink className="size-4 shrink-0" aria-hidden />
          <span className="truncate">{item.url}</span>
        </a>
      )}
      <div className="flex flex-wrap gap-2">
        {item.options.map((option) => (
          <button
            key={option}
            type="button"
            aria-pressed={chosen.includes(option)}
            className={cn(
              'rounded-lg border border-line-strong px-3 py-1.5 hover:bg-hover',
              chosen.includes(option) && 'border-accent bg-accent-soft text-link',
            )}
            onClick={() => toggle(option)}
          >
            {option}
          </button>
        ))}
      </div>
      {!item.closed && (
        <Input
          className={cn(item.options.length > 0 && 'mt-2')}
          aria-label={item.question}
          placeholder={
            item.placeholder === ''
              ? item.options.length > 0
                ? 'Or write your own answer'
                : 'Your answer'
              : item.placeholder
          }
          value={own}
          onChange={(event) => write(event.target.value)}
        />
      )}
    </fieldset>
  )
}
