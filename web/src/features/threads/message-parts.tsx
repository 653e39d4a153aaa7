import { memo } from 'react'
import { Info, TriangleAlert } from 'lucide-react'
import {
  isTerminal,
  type FilePart,
  type ImagePart,
  type MessagePart,
  type NoticePart,
  type Part,
  type Pending,
  type RunState,
  type SourcesPart,
} from '@outlast/sdk'
import { Markdown } from '@/components/markdown'
import { Zoom } from '@/components/zoom'
import type { AnswerProps } from '@/lib/apps'
import { cn } from '@/lib/cn'
import { client } from '@/lib/queries'
import { groupCallParts } from './call-parts'
import { FilePartCard } from './file-part-card'
import { HandoffLine } from './handoff-line'
import { PendingCard } from './pending-card'
import { Reasoning } from './reasoning'
import { isStructured, StructuredText } from './structured-text'
import { useOpenThread, useThreadFacts } from './thread-context'
import { useThreadViews } from './thread-views'
import { SourceLinks } from './source-links'
import { SubrunCard } from './subrun-card'
import { ToolCard } from './tool-card'
import { tellsUnreadable } from './unreadable-files'
import { UserMessage } from './user-message'

/** The parts of an answer in order; pending approvals and questions take the place of their tool call. */
export function MessageParts({ parts, pending, live }: AnswerProps) {
  const { profile } = useThreadFacts()
  const Answer = useThreadViews().agents[profile]?.Answer ?? PartList
  const placed = new Set(parts.map(({ id }) => id))
  return (
    <div className="space-y-3">
      <Answer parts={parts} pending={pending} live={live} />
      {pending
        .filter(({ part_id }) => !placed.has(part_id))
        .map((item) => (
          <PendingCard key={item.id} pending={item} />
        ))}
    </div>
  )
}

function PartList({ parts: all, pending, live }: AnswerProps) {
  const { parts, images, sources } = groupCallParts(all)
  const handoff = parts.find((part) => part.type === 'handoff')
  return parts.map((part, index) =>
    part.type === 'tool_call' && part.call_id === handoff?.call_id ? null : ( // the line says it
      <PartView
        key={part.id}
        part={part}
        images={images.get(part.id)}
        sources={sources.get(part.id)}
        pending={pending.find(({ part_id }) => part_id === part.id)}
        growing={live && index === parts.length - 1}
      />
    ),
  )
}

const partsOf = ({ parts, pending, status }: RunState) => (
  <PartList parts={parts} pending={pending} live={!isTerminal(status)} />
)

interface PartViewProps {
  part: Part
  /** The images that a call returned. */
  images?: ImagePart[] | undefined
  /** The pages that its result comes from. */
  sources?: SourcesPart | undefined
  pending: Pending | undefined
  growing: boolean
}

export const PartView = memo(function PartView({ part, images, sources, pending, growing }: PartViewProps) {
  if (pending !== undefined) return <PendingCard pending={pending} />
  switch (part.type) {
    case 'text':
      if (part.text.trim() === '') return null
      return isStructured(part.text) ? <StructuredText text={part.text} /> : <Markdown text={part.text} />
    case 'reasoning':
      return part.text.trim() === '' ? null : <Reasoning part={part} growing={growing} />
    case 'tool_call':
      return <ToolCard part={part} images={images} sources={sources} />
    case 'image':
      return <Picture part={part} />
    case 'sources':
      return <SourceLinks part={part} />
    case 'file':
      return (
        <>
          {part.media_type === 'image/svg+xml' && <Drawing part={part} />}
          <FilePartCard file={part} />
        </>
      )
    case 'notice':
      return tellsUnreadable([part]) ? null : <Notice part={part} />
    case 'subrun':
      return <SubrunCard part={part}>{partsOf}</SubrunCard>
    case 'handoff':
      return <HandoffLine part={part} />
    case 'message':
      return <SentMessage part={part} />
    default:
      return <AppPart part={part} />
  }
})

/** A message that a person sent during the answer, where the agent read it. */
function SentMessage({ part }: { part: MessagePart }) {
  const message = useOpenThread().open.messages.find(({ id }) => id === part.message_id)
  return message === undefined ? null : (
    <div className="py-4">
      <UserMessage message={message} />
    </div>
  )
}

/** A part of an app; nothing if no app knows its type. */
function AppPart({ part }: { part: Part }) {
  const View = useThreadViews().parts[part.type]
  return View === undefined ? null : <View part={part} />
}

/** An image in an answer, as wide as the answer. */
const Picture = ({ part: { attachment_id, name, width, height } }: { part: ImagePart }) => (
  <div data-picture style={{ aspectRatio: width !== null && height !== null ? `${width} / ${height}` : undefined }}>
    <Zoom
      src={client.attachmentUrl(attachment_id)}
      alt={name === '' ? 'Picture' : name}
      className="h-full max-h-120 w-full bg-code"
    />
  </div>
)

/** An SVG file in an answer: as a picture it runs nothing. */
const Drawing = ({ part: { attachment_id, name } }: { part: FilePart }) => (
  <div data-picture>
    <Zoom
      src={client.attachmentUrl(attachment_id)}
      alt={name}
      className="w-full bg-white [&_img]:mx-auto [&_img]:max-h-120 [&_img]:w-auto [&_img]:max-w-full"
    />
  </div>
)

function Notice({ part: { level, text } }: { part: NoticePart }) {
  const Icon = level === 'info' ? Info : TriangleAlert
  return (
    <p
      role="note"
      className={cn(
        'flex gap-2 rounded-lg px-3 py-2 text-[13px]',
        level === 'info' && 'bg-side text-muted',
        level === 'warning' && 'bg-warn-soft text-warn',
        level === 'error' && 'bg-danger-soft text-danger',
      )}
    >
      <Icon className="mt-0.5 size-3.5 shrink-0" aria-hidden />
      {text}
    </p>
  )
}
