import { ArrowUp, ImagePlus, ListPlus, Square, Zap } from 'lucide-react'
import { useRef, useState, type ClipboardEvent, type DragEvent } from 'react'
import type { OnBusy } from '@outlast/sdk'
import { Button, IconButton } from '@/components/button'
import { Problem } from '@/components/problem'
import { cn } from '@/lib/cn'
import { bytes } from '@/lib/format'
import { useDraft } from '@/lib/stored'
import { useMe } from '../session/session-gate'
import { ACCEPT, imagesIn, useAttachments } from './attachments'
import { ModelSelect, useModelChoice } from './model-select'
import { TextBox } from './text-box'
import { Thumbnails } from './thumbnails'

export interface Outgoing {
  content: string
  images: string[]
  /** null: the server's default. */
  model: string | null
  on_busy?: OnBusy
}

interface ComposerProps {
  projectId: string
  draftKey: string
  /** Resolves when the message is saved; then the box is emptied. */
  onSend: (message: Outgoing) => Promise<void>
  /** An answer is being made: sending means queueing or interrupting. */
  busy?: boolean
  onStop?: (() => void) | undefined
  stopping?: boolean
  onTyping?: () => void
  autoFocus?: boolean
}

export function Composer(props: ComposerProps) {
  const { projectId, draftKey, onSend, busy = false, onStop, stopping = false, onTyping, autoFocus = false } = props
  const me = useMe()
  const [text, setText] = useDraft(`outlast.draft.${draftKey}`)
  const { models, model, choose } = useModelChoice()
  const images = useAttachments(projectId, me.limits)
  const [sending, setSending] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const [over, setOver] = useState(false)
  const picker = useRef<HTMLInputElement>(null)

  const size = new Blob([text]).size
  const blocked = whyNot({ size, limit: me.limits.message_bytes, images: images.drafts.length, model })
  const uploading = images.drafts.some(({ attachment, error: failed }) => attachment === null && failed === null)
  const attached = images.drafts.flatMap(({ attachment }) => (attachment === null ? [] : [attachment.id]))
  const empty = text.trim() === '' && attached.length === 0
  const ready = !empty && !sending && !uploading && blocked === null

  const send = async (on_busy?: OnBusy) => {
    if (!ready) return
    setSending(true)
    setError(null)
    try {
      await onSend({ content: text.trim(), images: attached, model: model?.id ?? null, ...(on_busy && { on_busy }) })
      setText('')
      images.clear()
    } catch (reason) {
      setError(reason as Error)
    } finally {
      setSending(false)
    }
  }
  const paste = (event: ClipboardEvent) => {
    const files = imagesIn(event.clipboardData)
    if (files.length === 0) return
    event.preventDefault()
    images.add(files)
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    images.add([...event.dataTransfer.files])
  }
  const note = blocked ?? images.problem
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
      {error !== null && <Problem className="m-2 mb-0" error={error} />}
      {images.drafts.length > 0 && <Thumbnails drafts={images.drafts} onRemove={images.remove} />}
      <TextBox
        value={text}
        busy={busy}
        autoFocus={autoFocus}
        onChange={(value) => (setText(value), onTyping?.())}
        onPaste={paste}
        onEnter={() => void send(busy ? 'enqueue' : undefined)}
      />
      {note !== null && <p className="px-4 pb-1 text-xs text-warn">{note}</p>}
      <div className="flex items-center gap-1 px-2 pb-2">
        <input
          ref={picker}
          type="file"
          accept={ACCEPT}
          multiple
          hidden
          onChange={(event) => {
            images.add([...(event.target.files ?? [])])
            event.target.value = ''
          }}
        />
        <IconButton label="Attach images" onClick={() => picker.current?.click()}>
          <ImagePlus />
        </IconButton>
        <ModelSelect models={models} model={model} onChoose={choose} />
        <span className="flex-1" />
        {busy && !empty ? (
          <>
            <Button size="sm" look="ghost" disabled={!ready} onClick={() => void send('interrupt')}>
              <Zap />
              Interrupt
            </Button>
            <Button size="sm" look="primary" busy={sending} disabled={!ready} onClick={() => void send('enqueue')}>
              <ListPlus />
              Queue
            </Button>
          </>
        ) : busy && onStop !== undefined ? (
          <IconButton label="Stop the answer" look="dark" className="rounded-full" busy={stopping} onClick={onStop}>
            {!stopping && <Square className="size-3! fill-current" />}
          </IconButton>
        ) : (
          <IconButton
            label="Send"
            keys="Enter"
            look="primary"
            className="rounded-full"
            disabled={!ready}
            busy={sending}
            onClick={() => void send()}
          >
            {!sending && <ArrowUp />}
          </IconButton>
        )}
      </div>
    </div>
  )
}

interface Check {
  size: number
  limit: number
  images: number
  model: { label: string; vision: boolean } | null
}

/** Why this cannot be sent, said before it is. */
function whyNot({ size, limit, images, model }: Check): string | null {
  if (size > limit) return `The message has ${bytes(size)}; at most ${bytes(limit)} are allowed.`
  if (images > 0 && model !== null && !model.vision)
    return `${model.label} cannot see images. Choose a model that does, or remove them.`
  return null
}
