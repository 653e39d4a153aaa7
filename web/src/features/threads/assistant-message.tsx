import { memo } from 'react'
import { FileDiff } from 'lucide-react'
import { Link } from 'wouter'
import { readAnswers, type Message, type RunState } from '@outlast/sdk'
import { IconButton } from '@/components/button'
import { CopyIcon } from '@/components/copy'
import { ClockTime } from '@/components/time'
import { plural } from '@/lib/format'
import { ChangedFilesButton } from '../files/files-button'
import { useOpenCode } from '../screen-code/open-code'
import { AnswerHead } from './answer-head'
import { ForkButton } from './fork-button'
import { Parts } from './parts'
import { Problems } from './problems'
import { RunEnd } from './run-end'
import { useThreadFacts } from './thread-context'
import { textOf } from './user-message'

interface AssistantMessageProps {
  message: Message
  /** Known while this page saw the run. */
  run: RunState | undefined
  isLast: boolean
}

/** A saved answer, whole or partial. */
export const AssistantMessage = memo(function AssistantMessage({ message, run, isLast }: AssistantMessageProps) {
  const { look } = useThreadFacts()
  return (
    <article aria-label="Answer" data-message={message.id} data-status={message.status} className="group">
      {look === 'panel' && (
        <AnswerHead
          model={message.model}
          credits={message.credits}
          failed={message.status !== 'complete' || message.stop_reason === 'problems'}
          at={message.created_at}
        />
      )}
      <Parts parts={message.parts} />
      {message.status !== 'complete' && (
        <RunEnd
          runId={message.run_id}
          status={message.status === 'partial' ? 'error' : message.status}
          stopReason={message.stop_reason}
          error={message.error ?? run?.error ?? null}
          canRestart={isLast}
        />
      )}
      {message.status === 'complete' && <Problems message={message} run={run} isLast={isLast} />}
      <Foot message={message} />
    </article>
  )
})

function Foot({ message }: { message: Message }) {
  const { look, profile, screenId } = useThreadFacts()
  const openCode = useOpenCode(screenId)
  const { run_id } = message
  const copied = () => (profile === 'screen' ? shownTextOf(message) : textOf(message))
  return (
    <footer className="mt-1 -ml-1.5 flex h-7 items-center gap-0.5 text-xs text-faint">
      <CopyIcon label="Copy answer" text={copied} />
      <ForkButton messageId={message.id} />
      {openCode === null ? (
        <ChangedFilesButton messageId={message.id} />
      ) : (
        run_id !== null && (
          <IconButton
            label="What this answer changed"
            size="icon-sm"
            onClick={() => openCode({ view: 'changes', runId: run_id })}
          >
            <FileDiff />
          </IconButton>
        )
      )}
      <span className="ml-1 flex min-w-0 items-center gap-1.5 opacity-0 transition-opacity group-focus-within:opacity-100 group-hover:opacity-100">
        {look === 'page' && <Facts message={message} />}
        {run_id !== null && (
          <Link href={`/runs/${run_id}`} className="shrink-0 hover:text-fg hover:underline">
            Steps and cost
          </Link>
        )}
      </span>
    </footer>
  )
}

const Facts = ({ message: { created_at, model, credits } }: { message: Message }) => (
  <>
    <ClockTime iso={created_at} />
    {model !== null && <span className="truncate">{model}</span>}
    {credits !== null && credits > 0 && <span>{plural(credits, 'credit')}</span>}
  </>
)

/** A screen's answer as it is read: without its marks. */
const shownTextOf = ({ parts }: Message): string =>
  readAnswers(parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])))
    .flatMap(({ text }) => (text === '' ? [] : [text]))
    .join('\n\n')
