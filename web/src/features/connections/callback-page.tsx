import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { SignInCallbackRequest } from '@outlast/sdk'
import { AuthCard } from '@/components/auth-card'
import { Problem } from '@/components/problem'
import { client } from '@/lib/queries'
import { announceConnected } from './accounts'

/** What the other server sent back. The address is cleared, so that the code is in no history. */
function takeAnswer(): SignInCallbackRequest {
  const given = new URLSearchParams(location.search)
  history.replaceState(null, '', location.pathname)
  return {
    state: given.get('state') ?? '',
    code: given.get('code'),
    iss: given.get('iss'),
    error: given.get('error'),
    service: location.pathname.split('/')[3] ?? null,
  }
}

/** `/connections/callback`, and `/connections/callback/:service`: a person comes back from the MCP server or the service on
    which they connected their account. */
export default function CallbackPage() {
  const [came] = useState(takeAnswer)
  const { mutate, data, error } = useMutation({ mutationFn: client.connections.finish, onSuccess: announceConnected })
  useEffect(() => {
    document.title = 'Connect an account · Outlast'
    mutate(came)
  }, [came, mutate])
  if (data !== undefined)
    return (
      <AuthCard
        title={`${data.server} is connected`}
        lead="Runs that waited for your account go on. You can close this tab."
      >
        {null}
      </AuthCard>
    )
  if (error !== null)
    return (
      <AuthCard title="Your account is not connected" lead="You can close this tab and begin again with Connect.">
        <Problem error={error} />
      </AuthCard>
    )
  return (
    <AuthCard title="Connecting your account…" lead="This takes a few seconds.">
      {null}
    </AuthCard>
  )
}
