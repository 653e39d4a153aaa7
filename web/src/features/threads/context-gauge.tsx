import { Tip } from '@/components/tooltip'
import { count } from '@/lib/format'
import { cn } from '@/lib/cn'
import { useOpenThread } from './thread-context'

const ROUND = 2 * Math.PI * 6

/** How full the model's context is, by its last turn. */
export function ContextGauge() {
  const { context, compaction } = useOpenThread().open
  if (context === null) return null
  const share = Math.min(context.used_tokens / context.limit_tokens, 1)
  const whole = Math.round(share * 100)
  const before = compaction === null ? '' : ' Earlier messages were summarized.'
  const words = `The model's context is ${whole} % full: ${count(context.used_tokens)} of ${count(context.limit_tokens)} tokens.${before}`
  return (
    <Tip label={words}>
      <span
        role="meter"
        aria-label="Context used"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={whole}
        aria-valuetext={words}
        tabIndex={0}
        className="flex shrink-0 items-center gap-1 rounded px-1 text-xs text-faint tabular-nums"
      >
        <svg viewBox="0 0 16 16" className="size-3.5 -rotate-90" fill="none" strokeWidth="3" aria-hidden>
          <circle cx="8" cy="8" r="6" className="stroke-active" />
          <circle
            cx="8"
            cy="8"
            r="6"
            strokeDasharray={`${share * ROUND} ${ROUND}`}
            className={cn(share > 0.9 ? 'stroke-danger' : share > 0.7 ? 'stroke-amber' : 'stroke-accent')}
          />
        </svg>
        {whole} %
      </span>
    </Tip>
  )
}
