import {
  Ban,
  Check,
  ChevronRight,
  CircleAlert,
  CircleSlash,
  LoaderCircle,
  MessageCircleQuestion,
  Unplug,
} from 'lucide-react'
import { memo, useState, type ReactNode } from 'react'
import { toolLabel, type ImagePart, type SourcesPart, type ToolCallPart, type ToolStatus } from '@outlast/sdk'
import { Zoom } from '@/components/zoom'
import { cn } from '@/lib/cn'
import { duration, parseObject } from '@/lib/format'
import { client } from '@/lib/queries'
import { useMemberName } from '../mentions/people'
import { useMe } from '../session/session-gate'
import { useActiveProject } from '../shell/active-project'
import { SourceLinks } from './source-links'
import { ToolBody } from './tool-body'
import { exitCode, title } from './tool-text'

const MARK: Record<ToolStatus, [icon: ReactNode, label: string]> = {
  streaming: [<LoaderCircle className="animate-spin text-link" />, 'preparing'],
  pending: [<LoaderCircle className="animate-spin text-link" />, 'starting'],
  waiting: [<MessageCircleQuestion className="text-warn" />, 'waiting for you'],
  running: [<LoaderCircle className="animate-spin text-link" />, 'running'],
  done: [<Check className="text-ok" />, 'done'],
  error: [<CircleAlert className="text-danger" />, 'failed'],
  denied: [<Ban className="text-danger" />, 'denied'],
  interrupted: [<Unplug className="text-warn" />, 'interrupted'],
  cancelled: [<CircleSlash className="text-faint" />, 'cancelled'],
}

const BUSY = new Set<ToolStatus>(['streaming', 'pending', 'running'])

interface ToolCardProps {
  part: ToolCallPart
  /** The images that it returned. */
  images?: ImagePart[] | undefined
  /** The pages that its result comes from. */
  sources?: SourcesPart | undefined
}

/** One tool call: a one-line summary that opens into all details, its images and sources. Open while the tool runs. */
export const ToolCard = memo(function ToolCard({ part, images, sources }: ToolCardProps) {
  const [choice, setChoice] = useState<boolean | null>(null)
  const open = choice ?? (BUSY.has(part.status) && part.output !== '')
  const [icon, state] = MARK[part.status]
  const label = toolLabel(part)
  const summary = title(part.tool, parseObject(part.arguments))
  const code = exitCode(part)
  return (
    <section
      data-tool={part.tool}
      data-tool-status={part.status}
      className="overflow-hidden rounded-xl border border-line bg-raised"
    >
      <button
        aria-expanded={open}
        className="flex w-full items-center gap-2.5 px-3 py-2 text-left text-[13px] hover:bg-hover"
        onClick={() => setChoice(!open)}
      >
        <span role="img" aria-label={state} title={state} className="[&_svg]:size-4">
          {icon}
        </span>
        <span className="max-w-[75%] shrink-0 truncate font-medium" title={part.tool}>
          {label}
        </span>
        <code className="min-w-0 flex-1 truncate font-mono text-xs text-muted">
          {label.endsWith(summary) ? '' : summary}
        </code>
        {code !== null && code !== 0 && <span className="shrink-0 text-xs text-danger">exit {code}</span>}
        {part.decided_by != null && <Decision part={part} by={part.decided_by} />}
        {part.duration_s !== null && (
          <span className="shrink-0 text-xs text-faint tabular-nums">{duration(part.duration_s)}</span>
        )}
        <ChevronRight
          className={cn('size-3.5 shrink-0 text-faint transition-transform', open && 'rotate-90')}
          aria-hidden
        />
      </button>
      {open && <ToolBody part={part} />}
      {images !== undefined && <Images images={images} />}
      {sources !== undefined && <SourceLinks part={sources} />}
    </section>
  )
})

/** Who decided about the call. */
function Decision({ part, by }: { part: ToolCallPart; by: string }) {
  const me = useMe()
  const member = useMemberName(useActiveProject().projectId, by)
  const name = by === me.user.id ? 'you' : member
  if (name === undefined) return null
  const verb = part.status === 'denied' ? 'Denied' : part.tool === 'ask_user' ? 'Answered' : 'Approved'
  return (
    <span data-decision className="shrink-0 text-xs text-faint max-sm:hidden">
      {verb} by {name}
    </span>
  )
}

const Images = ({ images }: { images: ImagePart[] }) => (
  <ul aria-label="Images" className="flex flex-wrap gap-2 border-t border-line p-2.5">
    {images.map(({ id, attachment_id, name }) => (
      <li key={id} data-picture>
        <Zoom
          src={client.attachmentUrl(attachment_id)}
          alt={name}
          className="h-28 bg-code [&_img]:w-auto [&_img]:max-w-56"
        />
      </li>
    ))}
  </ul>
)
