import { CreditsNeeded } from '@outlast/sdk'
import { useCreditBalance } from '@outlast/sdk/react'
import { Problem } from '@/components/problem'
import { left, resets } from './composer-notes'

interface ExplainedProps {
  error: Error
  retry?: () => void
  className?: string
}

/** An error with its next step; if credits are short, also the balance and the time of the reset. */
export function RefusalNote({ error, retry, className }: ExplainedProps) {
  const short = error instanceof CreditsNeeded
  return (
    <div className={className} data-refused={short ? 'credits' : 'other'}>
      <Problem error={error} {...(!short && retry !== undefined && { retry })} />
      {short && <Shortage className="mt-1.5 px-1" />}
    </div>
  )
}

/** The balance, and the time when credits reset. */
export function Shortage({ className }: { className?: string }) {
  const { credits } = useCreditBalance()
  if (credits === null || credits.balance === null) return null
  const balanceText = left(credits.balance)
  return (
    <p data-shortage className={`text-xs text-muted ${className ?? ''}`}>
      Nothing was charged; {balanceText}.{resets(credits)} Choose a cheaper model below the message box.
    </p>
  )
}
