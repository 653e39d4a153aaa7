import { useQuery } from '@tanstack/react-query'
import { CornerUpRight, File, Folder } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { Checkpoint } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Code } from '@/components/code'
import { Problem } from '@/components/problem'
import { Empty, Skeleton, SkeletonRows } from '@/components/placeholders'
import { bytes } from '@/lib/format'
import { client } from '@/lib/queries'
import { asTree, type ShownFile } from './checkpoints'

const SHOWN_BYTES = 200_000
const ICONS = { directory: Folder, file: File, symlink: CornerUpRight } as const

/** The files of a checkpoint, one of them open. */
export function FileList({ checkpoint }: { checkpoint: Checkpoint }) {
  const [opened, setOpened] = useState<string | null>(null)
  const { data, error, refetch } = useQuery({
    queryKey: ['checkpoint', checkpoint.id],
    queryFn: ({ signal }) => client.checkpoint(checkpoint.id, signal),
    staleTime: Infinity,
  })
  const files = useMemo(() => asTree(data?.entries ?? []), [data])
  if (error !== null) return <Problem error={error} retry={() => void refetch()} />
  if (data === undefined) return <SkeletonRows rows={6} className="h-7" />
  if (opened !== null) return <OpenFile checkpoint={checkpoint} path={opened} onBack={() => setOpened(null)} />
  if (files.length === 0) return <Empty title="No files yet" className="py-8" />
  return (
    <ul aria-label="Files" className="-mx-2">
      {files.map((file) => (
        <li key={file.path}>
          <Row file={file} onOpen={() => setOpened(file.path)} />
        </li>
      ))}
      {data.truncated && <li className="px-2 py-1 text-faint">Some files are not shown.</li>}
    </ul>
  )
}

function Row({ file, onOpen }: { file: ShownFile; onOpen: () => void }) {
  const Icon = ICONS[file.kind]
  const inner = (
    <>
      <Icon className="size-3.5 shrink-0 text-faint" aria-hidden />
      <span className="min-w-0 flex-1 truncate">
        {file.name}
        {file.target !== null && <span className="text-faint"> → {file.target}</span>}
      </span>
      {file.kind === 'file' && <span className="shrink-0 text-xs text-faint">{bytes(file.size_bytes)}</span>}
    </>
  )
  const look = 'flex w-full items-center gap-2 rounded-md px-2 py-1 text-left font-mono text-[12.5px]'
  const style = { paddingLeft: `${0.5 + file.depth}rem` }
  if (file.kind !== 'file')
    return (
      <div className={look} style={style}>
        {inner}
      </div>
    )
  return (
    <button type="button" className={`${look} hover:bg-hover`} style={style} onClick={onOpen} title={file.path}>
      {inner}
    </button>
  )
}

interface OpenFileProps {
  checkpoint: Checkpoint
  path: string
  onBack: () => void
}

function OpenFile({ checkpoint, path, onBack }: OpenFileProps) {
  const { data, error, refetch } = useQuery({
    queryKey: ['checkpoint-file', checkpoint.id, path],
    queryFn: async ({ signal }) => textOf(await client.checkpointFile(checkpoint.id, path, signal)),
    staleTime: Infinity,
  })
  return (
    <>
      <div className="mb-2 flex items-center gap-2">
        <Button size="sm" onClick={onBack}>
          All files
        </Button>
        <span className="min-w-0 truncate font-mono text-[12.5px]">{path}</span>
      </div>
      {error !== null && <Problem error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton className="h-48" />}
      {data === null && <p className="text-muted">This file is not text and cannot be shown.</p>}
      {typeof data === 'string' && (
        <pre
          tabIndex={0}
          aria-label={path}
          className="max-h-[56vh] overflow-auto rounded-xl bg-code px-3.5 py-3 font-mono text-xs leading-relaxed"
        >
          <Code text={data} language={path.split('.').at(-1) ?? ''} />
        </pre>
      )}
    </>
  )
}

/** The beginning of a text, or null if it is not text. */
async function textOf(blob: Blob): Promise<string | null> {
  const cut = blob.size > SHOWN_BYTES
  const content = new Uint8Array(await blob.slice(0, SHOWN_BYTES).arrayBuffer())
  try {
    const text = new TextDecoder('utf-8', { fatal: !cut }).decode(content)
    if (text.includes('\0')) return null
    return cut ? `${text}\n… ${bytes(blob.size - SHOWN_BYTES)} more` : text
  } catch {
    return null
  }
}
