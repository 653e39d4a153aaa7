import { useInfiniteQuery } from '@tanstack/react-query'
import type { KnowledgeSource } from '@outlast/sdk'
import { Dialog } from '@/components/dialog'
import { Markdown } from '@/components/markdown'
import { Problem } from '@/components/problem'
import { SkeletonRows } from '@/components/placeholders'
import { plural } from '@/lib/format'
import { client } from '@/lib/queries'
import { nameOf } from './knowledge'
import { MoreButton } from '@/components/more-button'

const PAGE = 25

/** The indexed passages of a source, as agents receive them. */
export function PassagesDialog({ source, onClose }: { source: KnowledgeSource; onClose: () => void }) {
  const list = useInfiniteQuery({
    queryKey: ['knowledge-passages', source.id, source.fetched_at],
    queryFn: ({ pageParam, signal }) =>
      client.knowledge.passages(source.id, { limit: PAGE, signal, ...(pageParam !== '' && { after: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })
  const { data, error, refetch } = list
  const passages = data?.pages.flatMap(({ items }) => items)
  return (
    <Dialog
      open
      onClose={onClose}
      title={`${plural(source.passages, 'passage')} of ${source.package}`}
      description={<span className="[overflow-wrap:anywhere]">{nameOf(source)}</span>}
      className="sm:top-[6vh] sm:ml-[-22rem] sm:max-h-[86vh] sm:w-[44rem]"
    >
      {error !== null && <Problem error={error} retry={() => void refetch()} />}
      {passages === undefined && error === null && <SkeletonRows rows={4} className="h-28 rounded-xl" />}
      <ol aria-label="Passages" className="space-y-3">
        {passages?.map((passage) => (
          <li key={passage.id} className="rounded-xl border border-line">
            <p className="flex gap-2 border-b border-line bg-side px-3.5 py-2 text-xs">
              <span className="text-faint tabular-nums">{passage.position + 1}</span>
              <span className="min-w-0 flex-1 font-medium [overflow-wrap:anywhere]">{passage.heading}</span>
            </p>
            <div className="px-3.5 py-2.5">
              <Markdown text={passage.text} />
            </div>
          </li>
        ))}
      </ol>
      <MoreButton list={list} className="mx-auto mt-4 flex" />
    </Dialog>
  )
}
