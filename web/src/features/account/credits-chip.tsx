import { Coins, TriangleAlert } from 'lucide-react'
import { Popover } from 'radix-ui'
import type { ReactNode } from 'react'
import type { CreditEntry, Credits } from '@outlast/sdk'
import { useCreditBalance } from '@outlast/sdk/react'
import { Ago } from '@/components/time'
import { cn } from '@/lib/cn'
import { plural } from '@/lib/format'

/** The balance, always visible; a click shows plan, reset and the last entries. */
export function CreditsChip() {
  const { credits } = useCreditBalance()
  if (credits === null) return null
  const { balance, low } = credits
  return (
    <Popover.Root>
      <Popover.Trigger asChild>
        <button
          aria-label={`Credits: ${balance ?? 'unlimited'}${low ? ', running low' : ''}`}
          data-low={low || undefined}
          className={cn(
            'flex h-7 shrink-0 items-center gap-1.5 rounded-full px-2 text-xs text-muted tabular-nums hover:bg-hover hover:text-fg',
            low && 'bg-warn-soft font-medium text-warn hover:text-warn',
          )}
        >
          {low ? <TriangleAlert className="size-3.5" aria-hidden /> : <Coins className="size-3.5" aria-hidden />}
          {balance ?? '∞'}
          {low && <span className="hidden sm:inline">left</span>}
        </button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={6}
          collisionPadding={8}
          aria-label="Credits"
          className="z-50 w-76 rounded-xl border border-line bg-raised p-4 shadow-pop outline-none animate-in"
        >
          <Details credits={credits} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

function Details({ credits }: { credits: Credits }) {
  const { plan, balance, allowance, reserved, resets_at, entries, low } = credits
  return (
    <>
      <div className="flex items-baseline gap-2">
        <p className="text-lg font-semibold tabular-nums">
          {balance === null ? 'Unlimited' : plural(balance, 'credit')}
        </p>
        {allowance !== null && <p className="text-muted">of {allowance} per month</p>}
      </div>
      {balance !== null && allowance !== null && <Meter share={balance / Math.max(allowance, 1)} low={low} />}
      <dl className="mt-2.5 grid grid-cols-[auto_1fr] gap-x-3 gap-y-1 text-[13px]">
        <Fact name="Plan">
          <span className="capitalize">{plan}</span>
        </Fact>
        {reserved > 0 && <Fact name="Reserved">{plural(reserved, 'credit')} for answers in progress</Fact>}
        {resets_at !== null && balance !== null && (
          <Fact name="Resets on">
            {new Date(resets_at).toLocaleDateString([], { day: 'numeric', month: 'long', timeZone: 'UTC' })}
          </Fact>
        )}
      </dl>
      {low && (
        <p role="note" className="mt-3 rounded-lg bg-warn-soft px-2.5 py-2 text-[13px] text-warn">
          You are running low on credits. Choose a cheaper model below the message box, wait for the reset, or ask an
          administrator for a larger plan.
        </p>
      )}
      {entries.length > 0 && <Entries entries={entries} />}
    </>
  )
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt className="text-faint">{name}</dt>
    <dd>{children}</dd>
  </>
)

const Meter = ({ share, low }: { share: number; low: boolean }) => (
  <div className="mt-2 h-1.5 overflow-hidden rounded-full bg-active">
    <div
      className={cn('h-full rounded-full', low ? 'bg-amber' : 'bg-accent')}
      style={{ width: `${Math.min(100, Math.max(0, share * 100))}%` }}
    />
  </div>
)

/** Kinds of entries, in everyday words. */
const KINDS: Record<string, string> = {
  grant: 'Monthly credits',
  expire: 'Expired',
  reserve: 'Reserved for an answer',
  release: 'Refunded',
  settle: 'Answer completed',
}

const Entries = ({ entries }: { entries: CreditEntry[] }) => (
  <ul aria-label="Last entries" className="mt-3 max-h-48 overflow-y-auto border-t border-line pt-2 text-xs">
    {entries
      .filter(({ credits }) => credits !== 0) // settled at the reserved cost
      .map(({ id, kind, credits, created_at }) => (
        <li key={id} className="flex justify-between gap-3 py-0.5 text-muted">
          <span className="flex-1">{KINDS[kind] ?? kind}</span>
          <span className="text-fg tabular-nums">{credits > 0 ? `+${credits}` : credits}</span>
          <Ago iso={created_at} className="w-9 text-right text-faint" />
        </li>
      ))}
  </ul>
)
