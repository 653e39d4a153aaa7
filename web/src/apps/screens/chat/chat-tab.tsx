import { useCallback, useMemo } from 'react'
import type { ScreenData } from '@outlast/sdk'
import { Mark } from '@/components/brand'
import { ConnectionBar } from '@/features/threads/connection-bar'
import { MessageList } from '@/features/threads/message-list'
import { useOpenThread, useThreadFacts } from '@/features/threads/thread-context'
import { ThreadFooter } from '@/features/threads/thread-footer'
import { ThreadRoom } from '@/features/threads/thread-room'
import { OpenCodeContext, useCodeTab } from '../code/open-code'
import { takeDraft, watchDrafts } from './draft-store'
import { SuggestionChips } from '@/features/threads/suggestion-chips'
import { firstSuggestions, nextSuggestions } from './suggestions'

/** The conversation about a screen, next to it. */
export function ChatTab({ screen }: { screen: ScreenData }) {
  const openCode = useCodeTab(screen.id)
  const showChanges = useCallback((runId: string) => openCode({ view: 'changes', runId }), [openCode])
  return (
    <OpenCodeContext value={openCode}>
      <ThreadRoom key={screen.id} threadId={screen.thread_id} look="panel" showChanges={showChanges}>
        <Chat screen={screen} />
      </ThreadRoom>
    </OpenCodeContext>
  )
}

function Chat({ screen }: { screen: ScreenData }) {
  const { open } = useOpenThread()
  const handover = useMemo(() => ({ watch: watchDrafts, take: () => takeDraft(screen.id) }), [screen.id])
  const isNew = open.messages.length === 0
  const next = useMemo(() => nextSuggestions(open.messages, screen.state), [open.messages, screen.state])
  return (
    <div
      data-screen-chat={screen.id}
      className="relative flex min-h-0 flex-1 flex-col [&_.prose]:text-[14px] [&_.prose]:leading-[1.6]"
    >
      <ConnectionBar connection={open.connection} onWake={open.store.wake} />
      <MessageList empty={<NothingYet />} after={<SuggestionChips suggestions={next} className="-mt-3" />} />
      <ThreadFooter handover={handover} placeholder={isNew ? 'Describe the screen you want' : 'Ask for a change'} />
    </div>
  )
}

function NothingYet() {
  const { mayWrite } = useThreadFacts()
  return (
    <div className="flex flex-col items-center pb-6 text-center">
      <Mark className="mb-4 size-10" />
      <h2 className="text-[15px] font-semibold">What should this screen be?</h2>
      <p className="mt-1.5 mb-5 max-w-72 text-muted">
        {mayWrite
          ? 'Describe it, or drop an image of it. An agent builds a real app while you watch, and continues when you leave.'
          : 'No messages yet. Requests and answers appear here.'}
      </p>
      <SuggestionChips suggestions={firstSuggestions()} className="max-w-96 justify-center" />
    </div>
  )
}
