import { CalendarClock, CircleSlash, CornerDownRight } from 'lucide-react'
import { memo } from 'react'
import type { ImagePart, Message } from '@outlast/sdk'
import { CopyIcon } from '@/components/copy'
import { Zoom } from '@/components/zoom'
import { ClockTime } from '@/components/time'
import { cn } from '@/lib/cn'
import { client } from '@/lib/queries'
import { useMentionable } from '@/features/mentions/people'
import { Named } from '@/features/mentions/text-with-mentions'
import { useMe } from '../session/session-gate'
import { useActiveProject } from '../shell/active-project'
import { CaptureChips } from './capture-chips'
import { readCaptures } from './captures'
import { FilePartCard } from './file-part-card'
import { ForkButton } from './fork-button'
import { useThreadViews } from './thread-views'

interface UserMessageProps {
  message: Message
  unsaved?: boolean
  /** Its run was removed from the queue before it started. */
  dropped?: boolean
  /** Sent to a run that has not read it yet. */
  unread?: boolean
}

/** A person's message: plain text exactly as typed, never interpreted as markup. */
export const UserMessage = memo(function UserMessage(props: UserMessageProps) {
  const { message, unsaved = false, dropped = false, unread = false } = props
  const me = useMe()
  const images = message.parts.filter((part) => part.type === 'image')
  const files = message.parts.filter((part) => part.type === 'file')
  const whole = textOf(message)
  const { text, captures } = readCaptures(whole)
  const format = useThreadViews().messages.find(({ matches }) => matches(text))
  const schedule = message.parts.find((part) => part.type === 'notice' && part.code === 'schedule')
  const other = message.sender_id !== null && message.sender_id !== me.user.id
  return (
    <article aria-label="Your message" data-message={message.id} className="group relative flex flex-col items-end">
      {other && <p className="mb-1 mr-1 text-xs text-faint">{message.sender_name}</p>}
      {schedule?.type === 'notice' && (
        <p data-scheduled className="mb-1.5 flex items-center gap-1.5 text-xs text-muted">
          <CalendarClock className="size-3.5 shrink-0 text-faint" aria-hidden />
          <span className="[overflow-wrap:anywhere]">{schedule.text}</span>
        </p>
      )}
      {images.length > 0 && (
        <ul className="mb-1.5 flex flex-wrap justify-end gap-2">
          {images.map((image) => (
            <Thumbnail key={image.id} image={image} />
          ))}
        </ul>
      )}
      {files.length > 0 && (
        <ul className="mb-1.5 flex max-w-full flex-wrap justify-end gap-2">
          {files.map((file) => (
            <li key={file.id} className="max-w-full">
              <FilePartCard file={file} />
            </li>
          ))}
        </ul>
      )}
      {captures.length > 0 && <CaptureChips captures={captures} className="mb-1.5 justify-end" />}
      {format !== undefined && <format.View text={text} className={unsaved ? 'opacity-60' : ''} />}
      {text !== '' && format === undefined && (
        <div
          className={cn(
            'max-w-[min(36rem,88%)] rounded-2xl rounded-br-md bg-bubble px-4 py-2.5 text-[15px] leading-relaxed whitespace-pre-wrap [overflow-wrap:anywhere]',
            unsaved && 'opacity-60',
          )}
        >
          {text.includes('@') ? <WithNames text={text} /> : text}
        </div>
      )}
      {dropped && (
        <p data-not-answered className="mt-1.5 flex items-center gap-1.5 text-xs text-muted">
          <CircleSlash className="size-3.5 text-faint" aria-hidden />
          Not answered
        </p>
      )}
      {unread && (
        <p data-unread className="mt-1.5 flex items-center gap-1.5 text-xs text-muted">
          <CornerDownRight className="size-3.5 text-faint" aria-hidden />
          Read before the next step
        </p>
      )}
      {!unsaved && (
        <div className="absolute top-full right-0 flex h-7 items-center gap-0.5 text-xs text-faint opacity-0 transition-opacity group-focus-within:opacity-100 group-hover:opacity-100">
          <ClockTime iso={message.created_at} className="mr-1" />
          <ForkButton messageId={message.id} />
          <CopyIcon label="Copy message" text={whole} />
        </div>
      )}
    </article>
  )
})

/** Highlights the people whom the text mentions. */
function WithNames({ text }: { text: string }) {
  const { projectId } = useActiveProject()
  return <Named text={text} people={useMentionable(projectId)} />
}

export const textOf = (message: Message): string =>
  message.parts
    .filter((part) => part.type === 'text')
    .map(({ text }) => text)
    .join('\n\n')

const Thumbnail = ({ image }: { image: ImagePart }) => (
  <li>
    <Zoom
      src={client.attachmentUrl(image.attachment_id)}
      alt={image.name === '' ? 'Attached image' : image.name}
      className="max-h-52 max-w-full sm:max-w-72"
    />
  </li>
)
