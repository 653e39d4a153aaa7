import { useQuery } from '@tanstack/react-query'
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import type { ArtifactData } from '@outlast/sdk'
import { IconButton } from '@/components/button'
import { Dialog } from '@/components/dialog'
import { Markdown } from '@/components/markdown'
import { Problem } from '@/components/problem'
import { SkeletonRows } from '@/components/placeholders'
import { client } from '@/lib/queries'

interface FileTextDialogProps {
  file: ArtifactData
  first: number
  onClose: () => void
}

/** The text of a file, page by page, as agents and search see it. */
export function FileTextDialog({ file, first, onClose }: FileTextDialogProps) {
  const [page, setPage] = useState(first)
  const { data, error, refetch } = useQuery({
    queryKey: ['project-file-text', file.id, page],
    queryFn: ({ signal }) => client.artifacts.text(file.id, page, signal),
    placeholderData: (before) => before,
    staleTime: Infinity,
  })
  const pages = data?.pages ?? file.pages ?? 1
  return (
    <Dialog
      open
      onClose={onClose}
      title={file.name}
      description="Its text, as agents and search see it"
      className="sm:top-[6vh] sm:ml-[-24rem] sm:max-h-[86vh] sm:w-[48rem]"
    >
      {pages > 1 && (
        <nav aria-label="Pages" className="mb-3 flex items-center justify-center gap-2 text-[13px] tabular-nums">
          <IconButton label="Previous page" disabled={page <= 1} onClick={() => setPage(page - 1)}>
            <ChevronLeft />
          </IconButton>
          Page {page} of {pages}
          <IconButton label="Next page" disabled={page >= pages} onClick={() => setPage(page + 1)}>
            <ChevronRight />
          </IconButton>
        </nav>
      )}
      {error !== null && <Problem error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <SkeletonRows rows={6} className="h-5" />}
      {data !== undefined &&
        (file.media_type === 'text/markdown' ? (
          <Markdown text={data.text} />
        ) : (
          <pre className="font-mono text-[12.5px] leading-relaxed whitespace-pre-wrap [overflow-wrap:anywhere]">
            {data.text.trim() === '' ? 'This page has no text.' : data.text}
          </pre>
        ))}
    </Dialog>
  )
}
