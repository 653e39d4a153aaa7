import { Coins } from 'lucide-react'
import { Popover } from 'radix-ui'
import type { Credits } from '@outlast/sdk'
import { useCreditBalance } from '@outlast/sdk/react'
import { Ago } from '@/components/time'
import { cn } from '@/lib/cn'
import { plural } from '@/lib/format'

/** The balance, always visible; its last entries on click. */
export function CreditsChip() {
  const { credits } = useCreditBalance()
  if (credits === null) return null
  const { balance, low } = credits
  return (
    <Popover.Root>
      <Popover.Trigger asChild>
        <button
          aria-label={`Credits: ${balance ?? 'unlimited'}`}
          className={cn(
            'flex h-7 items-center gap-1.5 rounded-full px-2 text-xs text-muted tabular-nums hover:bg-hover hover:text-fg',
            low && 'bg-warn-soft text-warn hover:text-warn',
          )}
        >
          <Coins className="size-3.5" />
          {balance ?? '∞'}
        </button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={6}
          collisionPadding={8}
          className="z-50 w-72 rounded-xl border border-line bg-raised p-4 shadow-pop outline-none animate-in"
        >
          <Details credits={credits} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

function Details({ credits: { plan, balance, reserved, resets_at, entries, low } }: { credits: Credits }) {
  return (
    <>
      <p className="text-lg font-semibold">{balance === null ? 'Unlimited' : plural(balance, 'credit')}</p>
      <p className="text-muted">
        Plan: {plan}
        {reserved > 0 && ` · ${reserved} reserved by running answers`}
      </p>
      {low && (
        <p className="mt-2 text-warn">Few credits are left. Choose a cheaper model, or wait for the monthly reset.</p>
      )}
      {resets_at !== null && balance !== null && (
        <p className="mt-1 text-xs text-faint">New credits on {new Date(resets_at).toLocaleDateString()}</p>
      )}
      {entries.length > 0 && (
        <ul className="mt-3 max-h-48 overflow-y-auto border-t border-line pt-2 text-xs">
          {entries.map(({ id, kind, credits, created_at }) => (
            <li key={id} className="flex justify-between gap-3 py-0.5 text-muted">
              <span className="flex-1 capitalize">{kind}</span>
              <span className="text-fg tabular-nums">{credits > 0 ? `+${credits}` : credits}</span>
              <Ago iso={created_at} className="w-9 text-right text-faint" />
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
