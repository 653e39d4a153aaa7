import { Bot } from 'lucide-react'
import { useMemo } from 'react'
import { Empty } from '@/components/placeholders'
import { useAbout } from './comments/comment-draft'
import { SuggestionChips } from '@/features/threads/suggestion-chips'
import { ConnectionBar } from '@/features/threads/connection-bar'
import { MessageList } from '@/features/threads/message-list'
import { useOpenThread, useThreadFacts } from '@/features/threads/thread-context'
import { ThreadFooter } from '@/features/threads/thread-footer'
import { ThreadRoom } from '@/features/threads/thread-room'
import { AskPanel } from './ask-panel'
import { useDocumentRoom, type PanelProps } from './document-context'
import { FIRST_SUGGESTIONS } from './suggestions'
import { documentOf } from './subject'
import { ThreadBar } from './thread-bar'

/** The conversation with the agent: the document's own, the one that `item` names, or a new one. */
export function ThreadPanel({ item }: PanelProps) {
  const { documentId, threadId, mayEdit } = useDocumentRoom()
  const about = useAbout('ask', documentId)
  if (item === null && about !== null && mayEdit) return <AskPanel key={JSON.stringify(about)} about={about} />
  const shown = item ?? threadId
  return (
    <ThreadRoom key={shown} threadId={shown} look="panel">
      <Conversation />
    </ThreadRoom>
  )
}

function Conversation() {
  const { documentId } = useDocumentRoom()
  const { open, thread } = useOpenThread()
  const { mayWrite } = useThreadFacts()
  const isNew = open.messages.length === 0
  const anchored = thread.anchor?.['type'] !== 'document'
  const wishes = useMemo(() => (anchored ? [] : FIRST_SUGGESTIONS), [anchored])
  if (documentOf(thread) !== documentId)
    return (
      <Empty icon={<Bot />} title="Conversation not found">
        It is not about this document.
      </Empty>
    )
  return (
    <div
      data-document-thread={thread.id}
      className="relative flex min-h-0 flex-1 flex-col [&_.prose]:text-[14px] [&_.prose]:leading-[1.6]"
    >
      <ThreadBar />
      <ConnectionBar connection={open.connection} onWake={open.store.wake} />
      <MessageList
        empty={
          <div className="flex flex-col items-center text-center">
            <span className="mb-3 grid size-11 place-items-center rounded-2xl bg-accent-soft text-link">
              <Bot className="size-5.5" aria-hidden />
            </span>
            <h2 className="text-[15px] font-semibold">{anchored ? 'No messages yet' : 'What should be changed?'}</h2>
            <p className="mt-1.5 mb-4 max-w-72 text-muted">
              {mayWrite
                ? 'The agent reads the document and proposes edits. Nothing changes until someone accepts them.'
                : 'Requests to the agent and its proposals appear here.'}
            </p>
            <SuggestionChips suggestions={wishes} className="max-w-80 justify-center" />
          </div>
        }
      />
      <ThreadFooter placeholder={isNew ? 'Ask about the text, or for a change' : 'Ask for more'} />
    </div>
  )
}
