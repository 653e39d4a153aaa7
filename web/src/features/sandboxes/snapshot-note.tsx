import { Button } from '@/components/button'
import { useSnapshotNews } from './snapshot-news'

/** Above the composer, while the project's first sandbox waits for its packages. */
export function SnapshotNote({ projectId }: { projectId: string }) {
  const [news, dismiss] = useSnapshotNews(projectId)
  if (news === null) return null
  return (
    <div
      role="status"
      className="mb-2 flex flex-wrap items-center gap-x-3 gap-y-1 rounded-xl border border-line bg-side px-3.5 py-2 text-sm"
    >
      <p className="min-w-0 flex-1">
        <span className="font-medium">{news.text}</span>
        {news.detail !== '' && (
          <span
            className={
              news.kind === 'failed'
                ? 'mt-1 block max-h-32 overflow-y-auto font-mono text-xs whitespace-pre-wrap text-muted'
                : 'block truncate font-mono text-xs text-muted'
            }
          >
            {news.detail}
          </span>
        )}
      </p>
      {news.kind === 'failed' && (
        <Button size="sm" onClick={dismiss}>
          Dismiss
        </Button>
      )}
    </div>
  )
}
