import type { NewHook, NewWebhook } from '@outlast/sdk'
import { Button } from '@/components/button'
import { CopyButton, CopyIcon } from '@/components/copy'
import { Dialog } from '@/components/dialog'
import { fullTime } from '@/lib/format'
import { addressOf } from './webhooks'

const BOX = 'rounded-lg border border-line bg-bg px-3 py-2.5 font-mono text-xs [overflow-wrap:anywhere]'

/** A new secret, which is shown once. */
export function SecretDialog({ made, onClose }: { made: NewWebhook | NewHook; onClose: () => void }) {
  const purpose =
    'path' in made
      ? 'The other program sends it as a bearer token, or signs its requests with it.'
      : 'Your program checks with it that requests come from this server.'
  return (
    <Dialog
      open
      onClose={onClose}
      title={'path' in made ? 'Address and secret' : 'Signing secret'}
      description={`${purpose} Copy it now: you won’t be able to see it again.`}
    >
      {'path' in made && (
        <div className="mb-2.5 flex items-center gap-2">
          <code className={`min-w-0 flex-1 ${BOX}`}>{addressOf(made)}</code>
          <CopyIcon text={addressOf(made)} label="Copy address" />
        </div>
      )}
      <code className={`block ${BOX}`}>{made.secret}</code>
      {'old_secret_until' in made && made.old_secret_until !== null && (
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
