import { ArrowDown } from 'lucide-react'
import { useLayoutEffect, useMemo, type ReactNode } from 'react'
import { liveRuns, queuedRuns } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Skeleton } from '@/components/states'
import { cn } from '@/lib/cn'
import { AssistantMessage } from './assistant-message'
import { LiveAnswer } from './live-answer'
import { useOpenThread, useSender, useThreadFacts } from './thread-context'
import { UserMessage } from './user-message'
import { useStickToBottom } from './stick-to-bottom'

interface MessageListProps {
  /** Shown in a thread without messages. */
  empty?: ReactNode
  /** Shown below the last answer while nothing is being made. */
  after?: ReactNode
}

export function MessageList({ empty, after }: MessageListProps) {
  const { open } = useOpenThread()
  const { sending } = useSender()
  const { look } = useThreadFacts()
  const { messages, older, loadingOlder, store, activeRun } = open
  const queued = useMemo(() => queuedRuns(open), [open])
  const { box, content, atBottom, toBottom } = useStickToBottom(() => void store.loadOlder())
  const isSending = sending !== null
  useLayoutEffect(() => {
    if (isSending) toBottom()
  }, [isSending, toBottom])
  const live = useMemo(() => liveRuns(open), [open])
  const waiting = new Set(queued.map(({ run_id }) => run_id))
  const shown = live.filter((run) => !waiting.has(run.run_id))
  const lastAnswer = messages.findLast(({ role }) => role === 'assistant')
  const unsaved = sending !== null && !messages.some(({ id }) => id === sending.id) ? sending : null
  const isEmpty = messages.length === 0 && unsaved === null && shown.length === 0
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
          {messages.map((message) =>
            message.role === 'assistant' ? (
              <AssistantMessage
                key={message.id}
                message={message}
                run={message.run_id === null ? undefined : open.runs[message.run_id]}
                isLast={message === lastAnswer && activeRun === null}
              />
            ) : (
              <UserMessage
                key={message.id}
                message={message}
                queued={queued.find(({ message_id }) => message_id === message.id)}
              />
            ),
          )}
          {unsaved !== null && <UserMessage message={unsaved} unsaved />}
          {shown.map((run) => (
            <LiveAnswer key={run.run_id} run={run} />
          ))}
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
