import type { NewWebhook } from '@outlast/sdk'
import { Button } from '@/components/button'
import { CopyButton } from '@/components/copy'
import { Dialog } from '@/components/dialog'
import { fullTime } from '@/lib/format'

/** A webhook's secret, which is shown once. */
export function SecretDialog({ made, onClose }: { made: NewWebhook; onClose: () => void }) {
  return (
    <Dialog
      open
      onClose={onClose}
      title="Signing secret"
      description="Your program checks with it that requests come from this server. Copy it now: you won’t be able to see it again."
    >
      <code className="block rounded-lg border border-line bg-bg px-3 py-2.5 font-mono text-xs [overflow-wrap:anywhere]">
        {made.secret}
      </code>
      {made.old_secret_until !== null && (
        <p className="mt-2.5 text-xs text-muted">
          Requests are signed with the old secret too until {fullTime(made.old_secret_until)}.
        </p>
      )}
      <div className="mt-4 flex justify-end gap-2">
        <CopyButton text={made.secret}>Copy secret</CopyButton>
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  )
}
