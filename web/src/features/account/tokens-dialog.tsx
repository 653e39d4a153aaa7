import { useMutation, useQuery } from '@tanstack/react-query'
import { KeyRound, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Token } from '@outlast/sdk'
import { Button, IconButton } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { CopyButton } from '@/components/copy'
import { Dialog } from '@/components/dialog'
import { Input, Select } from '@/components/field'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/states'
import { fullTime } from '@/lib/format'
import { useKeptText } from '@/lib/kept-text'
import { client, queryClient, tokensQuery } from '@/lib/queries'

const reload = () => queryClient.invalidateQueries({ queryKey: ['tokens'] })

export function TokensDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="API tokens"
      description="For the CLI, the SDKs and other programs. A token may do everything that you may."
    >
      <NewToken />
      <Tokens />
    </Dialog>
  )
}

function NewToken() {
  const [typed, setName] = useKeptText('token')
  const name = typed ?? ''
  const [days, setDays] = useState('90')
  const create = useMutation({
    mutationFn: () => client.createToken({ name: name.trim(), ...(days !== '' && { expires_in_days: Number(days) }) }),
    onSuccess: () => {
      setName(null)
      void reload()
    },
  })
  return (
    <>
      <form
        className="flex flex-wrap gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          create.mutate()
        }}
      >
        <Input
          aria-label="Name of the new token"
          placeholder="What is it for? e.g. laptop"
          className="min-w-40 flex-1"
          value={name}
          maxLength={80}
          onChange={(event) => setName(event.target.value)}
        />
        <Select aria-label="Valid for" value={days} onChange={(event) => setDays(event.target.value)}>
          <option value="7">7 days</option>
          <option value="90">90 days</option>
          <option value="365">1 year</option>
          <option value="">for ever</option>
        </Select>
        <Button type="submit" look="primary" className="h-9" busy={create.isPending} disabled={name.trim() === ''}>
          Create
        </Button>
      </form>
      {create.error !== null && <Problem className="mt-3" error={create.error} />}
      {create.data !== undefined && (
        <div className="mt-3 rounded-xl border border-line bg-side p-3">
          <p className="text-muted">Copy the token now. It is not kept and cannot be shown again.</p>
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
                {token.expires_at === null ? 'valid for ever' : `until ${fullTime(token.expires_at)}`}
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
        Programs that use it are signed out at once.
      </Confirm>
    </>
  )
}
