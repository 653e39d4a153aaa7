import { CircleAlert, Hand, LoaderCircle, Moon, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { cn } from '@/lib/cn'
import { TONES } from '@/components/tones'
import { Tip } from '@/components/tooltip'
import type { Look } from './screen-state-text'

const ICONS: Partial<Record<Look['name'], ReactNode>> = {
  asleep: <Moon />,
  waiting: <Hand />,
  problems: <TriangleAlert />,
  failed: <CircleAlert />,
  'server-failed': <CircleAlert />,
}

/** A screen's state as a word, with an icon so that it does not depend on colour. */
export function StateBadge({ look, labelClassName }: { look: Look; labelClassName?: string }) {
  const { name, tone, label, detail } = look
  const badge = (
    <span
      data-screen-state={name}
      className={cn(
        'inline-flex h-5 min-w-0 shrink items-center gap-1.5 rounded-full text-[12px] font-medium whitespace-nowrap [&_svg]:size-3.5 [&_svg]:shrink-0',
        TONES[tone],
      )}
    >
      {ICONS[name] ??
        (tone === 'busy' ? (
          <LoaderCircle className="animate-spin" aria-hidden />
        ) : (
          <span aria-hidden className={cn('size-1.5 shrink-0 rounded-full', tone === 'good' ? 'bg-ok' : 'bg-faint')} />
        ))}
      <span className={cn('truncate', labelClassName)}>{label}</span>
    </span>
  )
  return detail === '' ? (
    badge
  ) : (
    <Tip label={<span className="line-clamp-6 whitespace-pre-line">{detail}</span>}>{badge}</Tip>
  )
}
