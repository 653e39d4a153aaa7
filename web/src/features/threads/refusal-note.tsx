import { CreditsNeeded } from '@outlast/sdk'
import { useCreditBalance } from '@outlast/sdk/react'
import { Problem } from '@/components/problem'
import { left, resets } from './composer-notes'

interface ExplainedProps {
  error: Error
  retry?: () => void
  className?: string
}

/** A refusal with its way out; where credits are short also what is left, and when new ones come. */
export function RefusalNote({ error, retry, className }: ExplainedProps) {
  const short = error instanceof CreditsNeeded
  return (
    <div className={className} data-refused={short ? 'credits' : 'other'}>
      <Problem error={error} {...(!short && retry !== undefined && { retry })} />
      {short && <Shortage className="mt-1.5 px-1" />}
    </div>
  )
}

/** What is left, and when new credits come. */
export function Shortage({ className }: { className?: string }) {
  const { credits } = useCreditBalance()
  if (credits === null || credits.balance === null) return null
  const told = left(credits.balance)
  return (
    <p data-shortage className={`text-xs text-muted ${className ?? ''}`}>
      Nothing was charged; {told}.{resets(credits)} Choose a cheaper model below the message box.
    </p>
  )
}
