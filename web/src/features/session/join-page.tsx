import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { AuthCard } from '@/components/auth-card'
import { Button } from '@/components/button'
import { CopyButton } from '@/components/copy'
import { Field, Input } from '@/components/field'
import { Problem } from '@/components/problem'
import { client, queryClient } from '@/lib/queries'
import { rememberSession } from './session'

/** Accepts an invitation. Its token is in the fragment of the address, so that it never appears in a server's log. */
export function JoinPage() {
  const token = location.hash.slice(1)
  const [name, setName] = useState('')
  const [, navigate] = useLocation()
  const enter = (projectId: string) => {
    localStorage.setItem('outlast.project', projectId)
    void queryClient.resetQueries()
    navigate(`/projects/${projectId}`, { replace: true })
  }
  const join = useMutation({
    mutationFn: () => client.acceptInvitation(token, name.trim()),
    onSuccess: (accepted) => {
      rememberSession(accepted.token != null)
      if (accepted.token == null) enter(accepted.project_id)
    },
  })
  const joined = join.data
  if (joined?.token != null) return <Joined token={joined.token} onDone={() => enter(joined.project_id)} />
  if (token === '')
    return (
      <AuthCard
        title="This invitation is incomplete"
        lead="The link should end with # and a token. Copy the whole link."
      >
        <Button onClick={() => navigate('/')}>Go to the home page</Button>
      </AuthCard>
    )
  return (
    <AuthCard title="You are invited" lead="Enter your name as others should see it.">
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault()
          join.mutate()
        }}
      >
        <Field label="Your name">
          <Input
            autoFocus
            name="name"
            autoComplete="name"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </Field>
        {join.error !== null && <Problem error={join.error} />}
        <Button type="submit" look="primary" className="w-full" busy={join.isPending} disabled={name.trim() === ''}>
          Join the project
        </Button>
      </form>
    </AuthCard>
  )
}

function Joined({ token, onDone }: { token: string; onDone: () => void }) {
  return (
    <AuthCard
      title="Welcome"
      lead="Save this token. You need it to sign in from another browser, the CLI or the SDK. It is shown only once."
    >
      <code className="mb-4 block rounded-lg border border-line bg-bg px-3 py-2.5 font-mono text-xs break-all select-all">
        {token}
      </code>
      <div className="flex gap-2">
        <CopyButton text={token}>Copy token</CopyButton>
        <Button look="primary" onClick={onDone}>
          Open the project
        </Button>
      </div>
    </AuthCard>
  )
}
