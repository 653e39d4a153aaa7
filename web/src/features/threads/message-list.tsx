import { ArrowDown } from 'lucide-react'
import { Fragment, useLayoutEffect, useMemo, type ReactNode } from 'react'
import { isTerminal, liveRuns, queuedRuns, type Message, type RunState } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Skeleton } from '@/components/placeholders'
import { cn } from '@/lib/cn'
import { Answer } from './answer'
import { CompactionDivider, firstAfter } from './compaction-divider'
import { hasArrived } from './outgoing-message'
import { useOpenThread, useSender, useThreadFacts } from './thread-context'
import { UserMessage } from './user-message'
import { useStickToBottom } from './stick-to-bottom'

interface MessageListProps {
  /** Shown in a thread without messages. */
  empty?: ReactNode
  /** Shown below the last answer while no run is active. */
  after?: ReactNode
}

const isLastAnswer = (said: Message[], at: number): boolean =>
  said.findLastIndex(({ role }) => role === 'assistant') === at

/** Removed from the queue before it started: its message shows that. */
const wasDropped = ({ status, parts, attempt }: RunState): boolean =>
  status === 'cancelled' && parts.length === 0 && attempt === 0

/** A later run continued this answer. */
const isContinued = ({ run_id }: RunState, runs: RunState[]): boolean =>
  runs.some(({ parent_run_id }) => parent_run_id === run_id)

/** Messages that stand within an answer, where the agent read them. */
const readWithin = (answers: Pick<Message, 'parts'>[]): string[] =>
  answers.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'message' ? [part.message_id] : [])))

/** Sent to a run that has not ended. */
const isForLive = ({ role, run_id }: Message, live: RunState[]): boolean =>
  role === 'user' && live.some((run) => run.run_id === run_id && !isTerminal(run.status))

export function MessageList({ empty, after }: MessageListProps) {
  const { open } = useOpenThread()
  const { sending } = useSender()
  const { look } = useThreadFacts()
  const { messages, older, loadingOlder, store, activeRun, compaction } = open
  const queued = useMemo(() => queuedRuns(open), [open])
  const { box, content, atBottom, toBottom } = useStickToBottom(() => void store.loadOlder())
  const isSending = sending !== null
  useLayoutEffect(() => {
    if (isSending) toBottom()
  }, [isSending, toBottom])
  const live = useMemo(() => liveRuns(open), [open])
  const waiting = new Set(queued.map(({ message_id }) => message_id))
  const inAnswers = useMemo(() => readWithin(messages), [messages])
  const placed = new Set([...waiting, ...inAnswers, ...readWithin(live)])
  const unread = messages.filter((message) => isForLive(message, live) && !placed.has(message.id))
  const sentMessages = messages.filter((message) => !placed.has(message.id) && !unread.includes(message))
  const shownRuns = live.filter(
    (run) => !queued.includes(run) && (!wasDropped(run) || run.message_id === sentMessages.at(-1)?.id),
  )
  const unsaved = sending !== null && !sending.queued && !hasArrived(sending, messages) ? sending : null
  const begins = firstAfter(compaction, sentMessages)
  const isEmpty = messages.length === 0 && unsaved === null && shownRuns.length === 0
  return (
    <div className="relative min-h-0 flex-1">
      <div ref={box} className="h-full overflow-y-auto overscroll-contain [overflow-anchor:none]" data-messages>
        <div
          ref={content}
          className={cn(
            'mx-auto w-full max-w-3xl space-y-7 px-4 pt-7 pb-6',
            look === 'page' ? 'sm:px-6' : 'pt-5 pb-4',
            isEmpty && empty !== undefined && 'flex min-h-full flex-col justify-center',
          )}
        >
          {isEmpty && empty}
          {older !== null && (
            <div data-older className="flex h-7 items-center justify-center">
              {loadingOlder ? (
                <Skeleton className="h-4 w-40" />
              ) : (
                <Button look="ghost" size="sm" onClick={() => void store.loadOlder()}>
                  Older messages
                </Button>
              )}
            </div>
          )}
          {[
            ...sentMessages.map((message, at) =>
              message.role === 'assistant' ? (
                <Answer
                  key={message.run_id ?? message.id}
                  message={message}
                  run={message.run_id === null ? undefined : open.runs[message.run_id]}
                  isLast={activeRun === null && isLastAnswer(sentMessages, at)}
                  continued={
                    sentMessages[at + 1]?.role === 'assistant' || (at === sentMessages.length - 1 && activeRun !== null)
                  }
                />
              ) : (
                <Fragment key={message.id}>
                  {compaction !== null && message.id === begins && <CompactionDivider compaction={compaction} />}
                  <UserMessage
                    message={message}
                    dropped={
                      message.status === 'cancelled' && !shownRuns.some(({ message_id }) => message_id === message.id)
                    }
                  />
                </Fragment>
              ),
            ),
            ...shownRuns.map((run) => (
              <Answer
                key={run.run_id}
                message={null}
                run={run}
                isLast={activeRun === null}
                continued={isContinued(run, shownRuns)}
              />
            )),
          ]}
          {unread.map((message) => (
            <UserMessage key={message.id} message={message} unread />
          ))}
          {unsaved !== null && <UserMessage message={unsaved} unsaved />}
          {!isEmpty && activeRun === null && unsaved === null && after}
        </div>
      </div>
      {!atBottom && (
        <Button
          size="sm"
          className="absolute bottom-3 left-1/2 -translate-x-1/2 rounded-full shadow-pop"
          onClick={() => toBottom('smooth')}
        >
          <ArrowDown />
          Latest
        </Button>
      )}
    </div>
  )
}
