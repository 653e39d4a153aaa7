import { useMutation, useQuery } from '@tanstack/react-query'
import { CircleCheck, RotateCcw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { SetAsideItem } from '@outlast/sdk'
import { Button, IconButton } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { Problem } from '@/components/problem'
import { SkeletonRows } from '@/components/placeholders'
import { Ago } from '@/components/time'
import { complain, say } from '@/components/toast'
import { plural } from '@/lib/format'
import { client, queryClient } from '@/lib/queries'

const KEY = ['admin', 'set-aside']
const reload = () => queryClient.invalidateQueries({ queryKey: KEY })

/** Work that failed five times in a row: it waits for an administrator and blocks nothing else. */
export function SetAsideList() {
  const { data, error, refetch } = useQuery({ queryKey: KEY, queryFn: () => client.setAside() })
  const [deleting, setDeleting] = useState<SetAsideItem | null>(null)
  const remove = useMutation({
    mutationFn: (item: SetAsideItem) => client.deleteSetAside(item),
    onSuccess: () => say('Deleted'),
    onError: complain,
    onSettled: reload,
  })
  return (
    <section aria-labelledby="set-aside">
      <h2 id="set-aside" className="mb-1 text-[15px] font-semibold">
        Set aside
      </h2>
      <p className="mb-3 text-muted">
        Work that failed five times in a row. The server retries it only when you choose Try again; other work
        continues.
      </p>
      {error !== null && <Problem error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <SkeletonRows rows={1} className="h-14" />}
      {data?.items.length === 0 && (
        <p className="flex items-center gap-2.5 rounded-xl border border-line px-4 py-3 text-muted [&_svg]:size-4">
          <CircleCheck className="text-ok" />
          Nothing is set aside.
        </p>
      )}
      {data !== undefined && data.items.length > 0 && (
        <ul className="divide-y divide-line overflow-hidden rounded-xl border border-line">
          {data.items.map((item) => (
            <ItemRow key={`${item.kind}/${item.id}`} item={item} onDelete={() => setDeleting(item)} />
          ))}
        </ul>
      )}
      <Confirm
        open={deleting !== null}
        onClose={() => setDeleting(null)}
        title="Delete this item?"
        action="Delete"
        onConfirm={() => deleting !== null && remove.mutate(deleting)}
      >
        It is deleted permanently and cannot be retried.
      </Confirm>
    </section>
  )
}

function ItemRow({ item, onDelete }: { item: SetAsideItem; onDelete: () => void }) {
  const again = useMutation({
    mutationFn: () => client.retrySetAside(item),
    onSuccess: () => say('Retry scheduled'),
    onError: complain,
    onSettled: reload,
  })
  return (
    <li className="flex flex-wrap items-center gap-3 px-4 py-3">
      <div className="min-w-60 flex-1">
        <p className="font-medium">{item.title}</p>
        <p className="text-[12.5px] text-muted">
          {item.reason} · {plural(item.tries, 'attempt')}, since <Ago iso={item.since} />
        </p>
        <p className="font-mono text-[11.5px] text-faint">{item.id}</p>
      </div>
      <Button size="sm" busy={again.isPending} onClick={() => again.mutate()}>
        <RotateCcw />
        Try again
      </Button>
      {item.deletable && (
        <IconButton label="Delete" onClick={onDelete}>
          <Trash2 />
        </IconButton>
      )}
    </li>
  )
}
