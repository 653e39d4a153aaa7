import { CircleAlert, Hand, LoaderCircle, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import type { PageState } from '@outlast/sdk'
import { TONES } from '@/components/tones'
import { Tip } from '@/components/tooltip'
import { cn } from '@/lib/cn'
import { LOOKS } from './page-state-text'

const ICONS: Partial<Record<PageState, ReactNode>> = {
  working: <LoaderCircle className="animate-spin" aria-hidden />,
  waiting: <Hand aria-hidden />,
  problems: <TriangleAlert aria-hidden />,
  failed: <CircleAlert aria-hidden />,
}

/** A page's state as a word, with an icon so that it does not depend on colour. */
export function PageBadge({ state }: { state: PageState }) {
  const { label, tone, detail } = LOOKS[state]
  const badge = (
    <span
      data-page-state={state}
      className={cn(
        'inline-flex h-5 shrink-0 items-center gap-1.5 text-[12px] font-medium whitespace-nowrap [&_svg]:size-3.5',
        TONES[tone],
      )}
    >
      {ICONS[state] ?? (
        <span aria-hidden className={cn('size-1.5 rounded-full', tone === 'good' ? 'bg-ok' : 'bg-faint')} />
      )}
      {label}
    </span>
  )
  return detail === '' ? badge : <Tip label={detail}>{badge}</Tip>
}
