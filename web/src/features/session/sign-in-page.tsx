import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { AuthCard } from '@/components/auth-card'
import { Button } from '@/components/button'
import { Field, Input } from '@/components/field'
import { Problem } from '@/components/problem'
import { client, queryClient } from '@/lib/queries'
import { rememberSession } from './session'

export function SignInPage() {
  const [token, setToken] = useState('')
  const [, navigate] = useLocation()
  const signIn = useMutation({
    mutationFn: () => client.signIn(token.trim()),
    onSuccess: () => {
      rememberSession(true)
      if (location.pathname === '/sign-in') navigate('/')
      return queryClient.resetQueries()
    },
  })
  return (
    <AuthCard
      title="Sign in to Outlast"
      lead="Paste an API token. It is exchanged for a session in this browser and not stored."
    >
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault()
          signIn.mutate()
        }}
      >
        <Field
          label="Token"
          hint={
            <>
              No token yet? Ask an owner for an invitation, or run{' '}
              <code className="font-mono text-fg">outlast tokens create</code> on the server.
            </>
          }
        >
          <Input
            autoFocus
            type="password"
            name="token"
            autoComplete="current-password"
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        </Field>
        {signIn.error !== null && <Problem error={new Error(signIn.error.message)} />}
        <Button type="submit" look="primary" className="w-full" busy={signIn.isPending} disabled={token.trim() === ''}>
          Sign in
        </Button>
      </form>
    </AuthCard>
  )
}
