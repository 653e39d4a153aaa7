import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { Account } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { Problem } from '@/components/problem'
import { Since } from '@/components/time'
import { client } from '@/lib/queries'
import { isConnected, reloadAccounts, signIn } from './accounts'

/** The signed-in person's account on a server: connect it, or disconnect it. */
export function AccountRow({ account, mayConnect, more }: { account: Account; mayConnect: boolean; more?: ReactNode }) {
  const { server_id: id, server, host, connected_at: since, state } = account
  const [asking, setAsking] = useState(false)
  const connect = useMutation({ mutationFn: () => signIn(id) })
  const disconnect = useMutation({ mutationFn: () => client.connections.disconnect(id), onSuccess: reloadAccounts })
  const error = connect.error ?? disconnect.error
  return (
    <div data-account={server} className="mt-2.5 border-t border-line pt-2.5">
      <div className="flex items-center gap-3 text-[13px]">
        <p className="min-w-0 flex-1 text-muted">
          {isConnected(account) && since !== null ? (
            <>
              You connected your account{account.account !== null && ` ${account.account}`} <Since iso={since} />
            </>
          ) : state === 'lost' ? (
            <span className="text-warn">{host} ended your connection. Connect again.</span>
          ) : (
            'Runs that you start use your own account.'
          )}
        </p>
        {isConnected(account) && more}
        {isConnected(account) ? (
          <Button size="sm" aria-label={`Disconnect ${server}`} onClick={() => setAsking(true)}>
            Disconnect
          </Button>
        ) : (
          mayConnect && (
            <Button
              size="sm"
              look="primary"
              aria-label={`Connect ${server}`}
              busy={connect.isPending}
              onClick={() => connect.mutate()}
            >
              Connect
            </Button>
          )
        )}
      </div>
      {error !== null && <Problem className="mt-2" error={error} />}
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title={`Disconnect your account on ${server}?`}
        action="Disconnect"
        onConfirm={() => disconnect.mutate()}
      >
        Runs that you start can no longer use it. Other people keep theirs.
      </Confirm>
    </div>
  )
}
