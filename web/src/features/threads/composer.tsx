import { AtSign, Paperclip } from 'lucide-react'
import { useCallback, useRef, useState, type ClipboardEvent, type DragEvent } from 'react'
import type { OnBusy } from '@outlast/sdk'
import { useCreditBalance } from '@outlast/sdk/react'
import { Button, IconButton } from '@/components/button'
import { cn } from '@/lib/cn'
import { makeKeyedStore } from '@/lib/keyed-store'
import { useStoredDraft } from '@/lib/local-storage'
import { AGENT, mentionedIn } from '@/features/mentions/mention-text'
import { useMentionable } from '@/features/mentions/people'
import { useMe } from '../session/session-gate'
import { AgentSelect, type AgentSelectProps } from './agent-select'
import { useAttachments } from './attachments'
import { withCaptures, type CapturedElement } from './captures'
import { CaptureChips } from './capture-chips'
import { RefusalNote } from './refusal-note'
import { noteFor } from './composer-notes'
import { useComposerInserts, type ComposerInserts } from './composer-inserts'
import { useModelChoice } from './model-choice'
import { ModelSelect } from './model-select'
import { ComposerNotes } from './composer-notes-view'
import { SendButtons } from './send-buttons'
import type { Outgoing } from './outgoing-message'
import { MessageBox } from './message-box'
import { Thumbnails } from './thumbnails'

interface ComposerProps {
  projectId: string
  draftKey: string
  /** Resolves when the message is saved; the box is emptied then. */
  onSend: (message: Outgoing) => Promise<void>
  /** Sends the message to the run in progress, whose agent reads it before its next turn. */
  onSendNow?: ((message: Outgoing) => Promise<void>) | undefined
  /** Saves the message for other people without asking the agent; offered if it mentions one of them. */
  onPost?: ((message: Outgoing) => Promise<void>) | undefined
  /** An answer is in progress: sending queues the message or interrupts the answer. */
  busy?: boolean
  onStop?: (() => void) | undefined
  stopping?: boolean
  onTyping?: () => void
  autoFocus?: boolean
  placeholder?: string | undefined
  handover?: ComposerInserts | undefined
  /** The choice of the agent that answers. */
  agents?: AgentSelectProps | undefined
}

const NO_ELEMENTS: CapturedElement[] = []
/** Captured elements by message box; like files, they are kept while it is not mounted. */
const captured = makeKeyedStore(NO_ELEMENTS)

export function Composer(props: ComposerProps) {
  const { projectId, draftKey, onSend, busy = false, onStop, stopping = false, onTyping } = props
  const me = useMe()
  const [text, setText] = useStoredDraft(`outlast.draft.${draftKey}`)
  const elements = captured.use(draftKey)
  const setElements = useCallback(
    (change: (elements: CapturedElement[]) => CapturedElement[]) => captured.change(draftKey, change),
    [draftKey],
  )
  const { models, model, choose, loaded } = useModelChoice()
  const people = useMentionable(projectId)
  const { credits } = useCreditBalance()
  const files = useAttachments(draftKey, projectId, me.limits)
  const [sending, setSending] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const [over, setOver] = useState(false)
  const picker = useRef<HTMLInputElement>(null)
  const focused = useComposerInserts(props.handover, text, setText, setElements)

  const content = withCaptures(text, elements)
  const size = new Blob([content]).size
  const note = noteFor({
    size,
    limit: me.limits.message_bytes,
    images: files.drafts.filter(({ preview }) => preview !== null).length,
    models: loaded ? models : null,
    model,
    credits,
  })
  const uploading = files.drafts.some(({ attachment, error: failed }) => attachment === null && failed === null)
  const attached = files.drafts.flatMap(({ attachment }) => (attachment === null ? [] : [attachment.id]))
  const empty = content === '' && attached.length === 0
  const ready = !empty && !sending && !uploading && note?.soft !== false

  const named = mentionedIn(text, people)
  const toPeople = props.onPost !== undefined && named.length > 0 && !named.includes(AGENT.id)

  const send = async (on_busy?: OnBusy, deliver = onSend) => {
    if (!ready) return
    setSending(true)
    setError(null)
    try {
      await deliver({ content, images: attached, model: model?.id ?? null, ...(on_busy && { on_busy }) })
      setText('')
      setElements(() => NO_ELEMENTS)
      files.clear()
    } catch (reason) {
      setError(reason as Error)
    } finally {
      setSending(false)
    }
  }
  const sendNow = props.onSendNow && (() => void send(undefined, props.onSendNow))
  const paste = (event: ClipboardEvent) => {
    const pasted = [...event.clipboardData.files]
    if (pasted.length === 0) return
    event.preventDefault()
    files.add(pasted)
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    files.add([...event.dataTransfer.files])
  }
  return (
    <div
      className={cn(
        'relative rounded-2xl border border-line-strong bg-raised shadow-[0_1px_3px_rgb(0_0_0/0.04)] transition-[border-color,box-shadow] focus-within:border-accent/55 focus-within:ring-3 focus-within:ring-accent/10',
        over && 'border-accent ring-3 ring-accent/20',
      )}
      onDragOver={(event) => (event.preventDefault(), setOver(true))}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      {over && (
        <p className="pointer-events-none absolute inset-0 z-10 grid place-items-center rounded-2xl bg-raised/90 font-medium text-link">
          Drop files to attach them
        </p>
      )}
      {error !== null && <RefusalNote className="m-2 mb-0" error={error} retry={() => void send()} />}
      {elements.length > 0 && (
        <CaptureChips
          captures={elements}
          onRemove={(at) =>
            setElements((all) => (all.length === 1 ? NO_ELEMENTS : all.filter((_, index) => index !== at)))
          }
          className="px-3 pt-3"
        />
      )}
      {files.drafts.length > 0 && <Thumbnails drafts={files.drafts} onRemove={files.remove} onRetry={files.retry} />}
      <MessageBox
        value={text}
        busy={busy}
        autoFocus={props.autoFocus === true}
        focused={focused}
        placeholder={props.placeholder}
        people={people}
        onChange={(value) => (setText(value), onTyping?.())}
        onPaste={paste}
        onEnter={() => void send(busy ? 'enqueue' : undefined)}
        onModEnter={sendNow}
      />
      <ComposerNotes note={note} problem={files.problem} onChoose={choose} />
      <div className="flex items-center gap-1 px-2 pb-2">
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            files.add([...(event.target.files ?? [])])
            event.target.value = ''
          }}
        />
        <IconButton label="Attach files" onClick={() => picker.current?.click()}>
          <Paperclip />
        </IconButton>
        {props.agents !== undefined && <AgentSelect {...props.agents} />}
        <ModelSelect models={models} model={model} balance={credits?.balance ?? null} onChoose={choose} />
        <span className="flex-1" />
        {toPeople && (
          <Button
            size="sm"
            look="ghost"
            disabled={!ready}
            title="Posts without asking the agent. Nothing is charged"
            onClick={() => void send(undefined, props.onPost)}
          >
            <AtSign />
            Post only
          </Button>
        )}
        <SendButtons
          busy={busy}
          empty={empty}
          ready={ready}
          sending={sending}
          stopping={stopping}
          onStop={onStop}
          onSend={(how) => void send(how)}
          onSendNow={sendNow}
        />
      </div>
    </div>
  )
}
