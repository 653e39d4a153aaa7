import { memo } from 'react'
import { Info, TriangleAlert } from 'lucide-react'
import { readAnswers, type ImagePart, type NoticePart, type Part, type Pending, type ReadAnswer } from '@outlast/sdk'
import { Markdown } from '@/components/markdown'
import { Zoom } from '@/components/zoom'
import { cn } from '@/lib/cn'
import { client } from '@/lib/queries'
// oxlint-disable-next-line no-restricted-imports -- until apps register what they show in a thread
import { ProposalCard } from '@/apps/documents/review-card'
import { AnswerFiles } from './answer-files'
import { PendingCard } from './pending-card'
import { Reasoning } from './reasoning'
import { useThreadFacts } from './thread-context'
import { PageChange } from './page-change'
import { ToolCard } from './tool-card'
import { tellsUnreadable } from './unreadable-files'
import { sectionsOf } from './work'
import { WorkGroup } from './work-group'

interface PartsProps {
  parts: Part[]
  pending?: Pending[]
  live?: boolean
}

/** The pieces of an answer in order; what waits for a person is shown in the place of its tool call. */
export function Parts({ parts, pending = [], live = false }: PartsProps) {
  const { profile } = useThreadFacts()
  const placed = new Set(parts.map(({ id }) => id))
  const Pieces = profile === 'screen' ? ScreenPieces : PlainPieces
  return (
    <div className="space-y-3">
      <Pieces parts={parts} pending={pending} live={live} />
      {pending
        .filter(({ part_id }) => !placed.has(part_id))
        .map((item) => (
          <PendingCard key={item.id} pending={item} />
        ))}
    </div>
  )
}

const PlainPieces = ({ parts, pending, live }: Required<PartsProps>) =>
  parts.map((part, index) => (
    <PartView
      key={part.id}
      part={part}
      pending={pending.find(({ part_id }) => part_id === part.id)}
      growing={live && index === parts.length - 1}
    />
  ))

/** Its texts by the id of their part; a text grows only while it is the last part. */
function readParts(parts: readonly Part[], live: boolean): Map<string, ReadAnswer> {
  const texts = parts.filter((part) => part.type === 'text')
  const growing = live && parts.at(-1)?.type === 'text'
  const read = readAnswers(
    texts.map(({ text }) => text),
    growing,
  )
  return new Map(texts.flatMap(({ id }, at) => (read[at] === undefined ? [] : [[id, read[at]]])))
}

/** A screen's answer: without its marks, the work folded, its files in one place. */
function ScreenPieces({ parts, pending, live }: Required<PartsProps>) {
  const read = readParts(parts, live)
  const sections = sectionsOf(parts, (part) => part.type !== 'text' || (read.get(part.id)?.text ?? '') !== '')
  const files = [...read.values()].flatMap((answer) => answer.files)
  return (
    <>
      {sections.map((section, at) => {
        const growing = live && at === sections.length - 1
        if (section.kind === 'work')
          return <WorkGroup key={section.id} parts={section.parts} pending={pending} growing={growing} />
        const { part } = section
        if (part.type === 'text') return <Markdown key={part.id} text={read.get(part.id)?.text ?? ''} />
        return <PartView key={part.id} part={part} pending={undefined} growing={growing} />
      })}
      {!live && files.length > 0 && <AnswerFiles files={files} />}
    </>
  )
}

const PartView = memo(function PartView({
  part,
  pending,
  growing,
}: {
  part: Part
  pending: Pending | undefined
  growing: boolean
}) {
  if (pending !== undefined) return <PendingCard pending={pending} />
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? null : <Markdown text={part.text} />
    case 'reasoning':
      return part.text.trim() === '' ? null : <Reasoning part={part} growing={growing} />
    case 'tool_call':
      return <ToolCard part={part} />
    case 'image':
      return <Picture part={part} />
    case 'notice':
      return tellsUnreadable([part]) ? null : <Notice part={part} />
    case 'page':
      return <PageChange part={part} />
    case 'proposal':
      return <ProposalCard part={part} />
  }
})

/** A picture in an answer, as large as the answer is wide. */
const Picture = ({ part: { attachment_id, name, width, height } }: { part: ImagePart }) => (
  <div data-picture style={{ aspectRatio: width !== null && height !== null ? `${width} / ${height}` : undefined }}>
    <Zoom
      src={client.attachmentUrl(attachment_id)}
      alt={name === '' ? 'Picture' : name}
      className="h-full max-h-120 w-full bg-code"
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
