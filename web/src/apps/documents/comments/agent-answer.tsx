import { useQuery } from '@tanstack/react-query'
import { ArrowUpRight } from 'lucide-react'
import { useState } from 'react'
import type { Message, Thread } from '@outlast/sdk'
import { StatusDot } from '@/components/status-dot'
import { Markdown } from '@/components/markdown'
import { Since } from '@/components/time'
import { cn } from '@/lib/cn'
import { client } from '@/lib/queries'
import { AgentMark } from '@/features/mentions/mention-list'

const LONG_CHARS = 320

const WORKING: Partial<Record<Thread['run_status'], string>> = {
  generating: 'is working on it…',
  awaiting_approval: 'needs your approval',
  paused: 'is waiting for you',
}

interface AgentAnswerProps {
  thread: Thread
  /** Show only the beginning. */
  short: boolean
  onOpen: () => void
}

/** The agent's answer to an assigned comment: the last answer of the comment's conversation. */
export function AgentAnswer({ thread, short, onOpen }: AgentAnswerProps) {
  const { data } = useQuery({
    queryKey: ['agent-answer', thread.id, thread.message_count, thread.run_status],
    queryFn: async ({ signal }) => lastAnswer((await client.messages(thread.id, { limit: 20, signal })).items),
    placeholderData: (before) => before,
    staleTime: Infinity,
  })
  const working = WORKING[thread.run_status]
  if (working === undefined && (data ?? null) === null && thread.run_status !== 'error') return null
  return (
    <div data-agent-answer={thread.run_status} className="flex gap-2">
      <AgentMark className="size-6" />
      <div className="min-w-0 flex-1">
        <p className="flex items-center gap-1.5">
          <span className="font-medium">Agent</span>
          {working === undefined ? (
            data && <Since iso={data.created_at} className="text-xs text-faint" />
          ) : (
            <span className="flex items-center gap-1.5 text-xs text-muted">
              <StatusDot status={thread.run_status} />
              {working}
            </span>
          )}
        </p>
        {thread.run_status === 'error' && <p className="text-danger">It ended with an error.</p>}
        {working === undefined && data && <Answer message={data} short={short} />}
        <button
          className="mt-0.5 flex items-center gap-1 text-xs text-link hover:underline pointer-coarse:py-1.5"
          onClick={onOpen}
        >
          Open the conversation
          <ArrowUpRight className="size-3" aria-hidden />
        </button>
      </div>
    </div>
  )
}

function Answer({ message, short }: { message: Message; short: boolean }) {
  const [whole, setWhole] = useState(false)
  const text = textOf(message)
  if (text === '') return null
  const long = !short && text.length > LONG_CHARS
  return (
    <>
      <div
        className={cn(
          '[&_.prose]:text-[13.5px] [&_.prose]:leading-5',
          short ? 'line-clamp-2' : long && !whole && 'line-clamp-6',
        )}
      >
        <Markdown text={text} />
      </div>
      {long && (
        <button
          className="mr-3 text-xs text-muted hover:text-fg pointer-coarse:py-1.5"
          onClick={() => setWhole(!whole)}
        >
          {whole ? 'Less' : 'More'}
        </button>
      )}
    </>
  )
}

/** The text after the last tool call: earlier text is shown in the conversation. */
const textOf = ({ parts }: Message): string =>
  parts.flatMap((part) => (part.type === 'text' && part.text.trim() !== '' ? [part.text.trim()] : [])).at(-1) ?? ''

const lastAnswer = (messages: readonly Message[]): Message | null =>
  messages.findLast((message) => message.role === 'assistant' && textOf(message) !== '') ?? null
