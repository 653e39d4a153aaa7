import { useMutation, useQuery } from '@tanstack/react-query'
import type { Account } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Problem } from '@/components/problem'
import { client } from '@/lib/queries'
import { AccountRow } from './account-row'
import { accountsQuery, reloadAccounts } from './accounts'

/** The services of the configuration, each with the signed-in person's account; nothing if there are none. */
export function ServiceList({ projectId, mayConnect }: { projectId: string; mayConnect: boolean }) {
  const accounts = useQuery(accountsQuery(projectId)).data?.items ?? []
  const services = accounts.filter(({ service }) => service !== null)
  if (services.length === 0) return null
  return (
    <section aria-label="Accounts" className="mt-8">
      <h2 className="mb-2 font-medium">Accounts</h2>
      <ul className="divide-y divide-line rounded-2xl border border-line bg-raised">
        {services.map((account) => (
          <Row key={account.server_id} account={account} mayConnect={mayConnect} />
        ))}
      </ul>
    </section>
  )
}

function Row({ account, mayConnect }: { account: Account; mayConnect: boolean }) {
  const test = useMutation({
    mutationFn: () => client.connections.test(account.server_id),
    onSettled: reloadAccounts, // a test may find that the account was disconnected there
  })
  const { service } = account
  if (service === null) return null
  return (
    <li data-service={service.name} className="px-4 py-3 sm:px-5">
      <p className="font-medium">{account.server}</p>
      <p className="mt-0.5 text-[13px] break-words text-muted">
        Code finds a placeholder in <code className="font-mono text-xs">{service.variable}</code> for{' '}
        {service.hosts.join(', ')}
      </p>
      {service.passed_at === null && (
        <p className="mt-0.5 text-[13px] break-words text-warn">
          Not yet tried against the real service. The address to register there is{' '}
          <code className="font-mono text-xs">{`${location.origin}/connections/callback/${service.name}`}</code>.
        </p>
      )}
      <AccountRow
        account={account}
        mayConnect={mayConnect}
        more={
          <Button
            size="sm"
            aria-label={`Test ${account.server}`}
            busy={test.isPending}
            disabled={!mayConnect}
            onClick={() => test.mutate()}
          >
            {test.isSuccess ? 'Works' : 'Test'}
          </Button>
        }
      />
      {test.error !== null && <Problem className="mt-2" error={test.error} />}
    </li>
  )
}
