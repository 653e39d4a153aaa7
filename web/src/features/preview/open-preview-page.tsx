import { useEffect, useState } from 'react'
import { Problem } from '@/components/problem'
import { Skeleton } from '@/components/placeholders'
import { client } from '@/lib/queries'
import { PageHeader } from '../shell/shell'

/** Redirects from Outlast to a preview. Visitors land here if they open a preview's address without access. */
export default function OpenPreviewPage({ sandboxId, port }: { sandboxId: string; port: string }) {
  const [error, setError] = useState<Error | null>(null)
  const [tries, setTries] = useState(0)
  useEffect(() => {
    document.title = 'Preview · Outlast'
    let current = true
    client.openPreview(sandboxId, Number(port), wantedPath()).then(
      ({ ticket_url }) => current && location.replace(ticket_url),
      (reason: Error) => current && setError(reason),
    )
    return () => {
      current = false
    }
  }, [sandboxId, port, tries])
  return (
    <>
      <PageHeader>
        <h1 className="text-[14.5px] font-semibold">Preview</h1>
      </PageHeader>
      <div className="mx-auto w-full max-w-xl px-4 pt-16">
        {error === null ? (
          <div role="status" aria-label="Opening the preview">
            <Skeleton className="h-5 w-2/3" />
          </div>
        ) : (
          <Problem error={error} retry={() => (setError(null), setTries(tries + 1))} />
        )}
      </div>
    </>
  )
}

function wantedPath(): string {
  const to = new URLSearchParams(location.search).get('to') ?? '/'
  return to.startsWith('/') ? to : '/'
}
