import { Bot, X } from 'lucide-react'
import { useRef, useState } from 'react'
import { IconButton } from '@/components/button'
import { complain } from '@/components/toast'
import { client } from '@/lib/queries'
import { draftKey, setAbout, type About } from './comments/comment-draft'
import { useOutline } from './comments/comment-store'
import { putDocumentThread } from './comments/document-threads'
import { placeName } from './comments/place-name'
import { Composer } from '@/features/threads/composer'
import { useModelChoice } from '@/features/threads/model-choice'
import { bodyOf, keyFor, type Outgoing } from '@/features/threads/outgoing-message'
import { patchThreads } from '@/features/threads/threads'
import { anchorOf } from './anchors'
import { useDocumentRoom } from './document-context'
import { PART_SUGGESTIONS } from './suggestions'

/** A new conversation about a part of the document. It begins with its first message. */
export function AskPanel({ about }: { about: About }) {
  const { documentId, projectId, store, openPanel } = useDocumentRoom()
  const { model } = useModelChoice()
  const sections = useOutline()
  const [busy, setBusy] = useState(false)
  // The created thread is reused if the first message has to be sent again.
  const made = useRef<string | null>(null)
  const keys = useRef(new Map<string, string>())
  const ask = async (message: Outgoing) => {
    if (made.current === null) {
      const anchor = anchorOf(documentId, about, store.get().content.blocks)
      const thread = await client.createThread(projectId, { profile: 'document', anchor })
      made.current = thread.id
      patchThreads(thread)
      putDocumentThread(thread)
    }
    const body = bodyOf(message)
    await client.startRun(made.current, body, keyFor(keys.current, JSON.stringify(body)))
    setAbout('ask', documentId, null)
    openPanel('thread', made.current)
  }
  const wish = (content: string) => {
    setBusy(true)
    ask({ content, images: [], model: model?.id ?? null }).catch((error: Error) => (complain(error), setBusy(false)))
  }
  const place = placeName(sections, about)
  return (
    <div data-ask-agent className="flex min-h-0 flex-1 flex-col">
      <div className="flex h-10 shrink-0 items-center gap-2 border-b border-line pr-1.5 pl-3">
        <span className="flex-1 font-medium">Ask the agent</span>
        <IconButton label="Clear selection" size="icon-sm" onClick={() => setAbout('ask', documentId, null)}>
          <X />
        </IconButton>
      </div>
      <div className="flex min-h-0 flex-1 flex-col justify-end gap-4 overflow-y-auto px-4 py-4">
        <div className="m-auto w-full max-w-md">
          <span className="mb-3 grid size-11 place-items-center rounded-2xl bg-accent-soft text-link">
            <Bot className="size-5.5" aria-hidden />
          </span>
          <p className="text-xs text-faint">{place}</p>
          {about.quote === null ? (
            <p className="mt-1 text-[15px] font-semibold">
              About {about.block_id === null ? 'this section' : 'this block'}
            </p>
          ) : (
            <blockquote className="mt-1.5 line-clamp-6 border-l-2 border-accent pl-3 text-[15px] [overflow-wrap:anywhere]">
              {about.quote.text}
            </blockquote>
          )}
          <ul aria-label="Suggestions" className="mt-4 flex flex-wrap gap-1.5">
            {PART_SUGGESTIONS.map(({ label, text }) => (
              <li key={label}>
                <button
                  disabled={busy}
                  className="rounded-full border border-line px-3 py-1.5 text-[13px] text-muted transition-colors hover:border-line-strong hover:bg-hover hover:text-fg disabled:opacity-50 pointer-coarse:py-2"
                  onClick={() => wish(text)}
                >
                  {label}
                </button>
              </li>
            ))}
          </ul>
        </div>
      </div>
      <div className="px-3 pb-3">
        <Composer
          projectId={projectId}
          draftKey={draftKey('ask', documentId).replace('outlast.draft.', '')}
          onSend={ask}
          placeholder="Describe what the agent should do"
          autoFocus
        />
      </div>
    </div>
  )
}
