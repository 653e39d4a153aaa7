import { useQuery } from '@tanstack/react-query'
import { createContext, useContext, type ReactNode } from 'react'
import type { Me } from '@outlast/sdk'
import { Mark } from '@/components/brand'
import { Problem } from '@/components/problem'
import { isSignedOut, meQuery } from '@/lib/queries'
import { SignInPage } from './sign-in-page'

const MeContext = createContext<Me | null>(null)

/** The signed-in user; only below the session gate. */
export function useMe(): Me {
  const me = useContext(MeContext)
  if (me === null) throw new Error('useMe is called outside of the session gate')
  return me
}

export function SessionGate({ children }: { children: ReactNode }) {
  const { data, error, refetch, failureReason } = useQuery(meQuery)
  if (isSignedOut(error) || isSignedOut(failureReason)) return <SignInPage />
  if (data !== undefined) return <MeContext value={data}>{children}</MeContext>
  return (
    <main className="grid h-full place-items-center px-4">
      {error === null ? (
        <div role="status" className="flex flex-col items-center gap-3 text-muted">
          <Mark className="size-9 animate-breathe" />
          {failureReason === null ? <span className="sr-only">Loading</span> : 'Waiting for the server…'}
        </div>
      ) : (
        <Problem className="w-full max-w-md" error={error} retry={() => void refetch()} />
      )}
    </main>
  )
}
