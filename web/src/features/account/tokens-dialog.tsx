import { useMutation, useQuery } from '@tanstack/react-query'
import { KeyRound, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Token } from '@outlast/sdk'
import { IconButton } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { CopyButton } from '@/components/copy'
import { Dialog } from '@/components/dialog'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { fullTime } from '@/lib/format'
import { client, queryClient, tokensQuery } from '@/lib/queries'
import { type Expiring, ExpiringForm } from '@/components/expiring-form'

const reload = () => queryClient.invalidateQueries({ queryKey: ['tokens'] })

export function TokensDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="API tokens"
      description="For the CLI, the SDKs and other programs. A token has all of your permissions."
    >
      <NewToken />
      <Tokens />
    </Dialog>
  )
}

function NewToken() {
  const create = useMutation({ mutationFn: (wanted: Expiring) => client.createToken(wanted), onSuccess: reload })
  return (
    <>
      <ExpiringForm
        draftKey="token"
        label="Name of the new token"
        placeholder="What is it for? For example, laptop"
        action="Create"
        nameRequired
        create={create}
      />
      {create.data !== undefined && (
        <div className="mt-3 rounded-xl border border-line bg-side p-3">
          <p className="text-muted">Copy the token now. You won’t be able to see it again.</p>
          <div className="mt-2 flex items-center gap-2">
            <code className="min-w-0 flex-1 rounded-lg border border-line bg-bg px-2.5 py-2 font-mono text-xs break-all select-all">
              {create.data.token}
            </code>
            <CopyButton text={create.data.token} />
          </div>
        </div>
      )}
    </>
  )
}

function Tokens() {
  const { data, error, refetch } = useQuery(tokensQuery)
  const [leaving, setLeaving] = useState<Token | null>(null)
  const revoke = useMutation({ mutationFn: client.revokeToken, onSettled: reload })
  if (error !== null) return <Problem className="mt-4" error={error} retry={() => void refetch()} />
  if (data === undefined)
    return (
      <div className="mt-4">
        <SkeletonRows rows={2} className="h-11" />
      </div>
    )
  if (data.items.length === 0) return <Empty className="py-8" icon={<KeyRound />} title="No tokens yet" />
  return (
    <>
      <ul className="-mx-2 mt-4">
        {data.items.map((token) => (
          <li key={token.id} className="flex items-center gap-2.5 rounded-lg px-2 py-1.5 hover:bg-hover">
            <KeyRound className="size-4 text-faint" />
            <span className="min-w-0 flex-1">
              <span className="block truncate">{token.name}</span>
              <span className="block text-xs text-faint">
                <span className="font-mono">{token.prefix}…</span> ·{' '}
                {token.expires_at === null ? 'never expires' : `expires ${fullTime(token.expires_at)}`}
              </span>
            </span>
            <IconButton label={`Revoke ${token.name}`} size="icon-sm" onClick={() => setLeaving(token)}>
              <Trash2 />
            </IconButton>
          </li>
        ))}
      </ul>
      {revoke.error !== null && <Problem className="mt-2" error={revoke.error} />}
      <Confirm
        open={leaving !== null}
        onClose={() => setLeaving(null)}
        title={`Revoke “${leaving?.name ?? ''}”?`}
        action="Revoke"
        onConfirm={() => leaving !== null && revoke.mutate(leaving.id)}
      >
        Programs that use it lose access immediately.
      </Confirm>
    </>
  )
}
