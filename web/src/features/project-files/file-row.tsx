import { Download, ExternalLink, FileText, FileType, LoaderCircle, MoreHorizontal, Table2, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { ArtifactData } from '@outlast/sdk'
import { IconButton } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { Menu, MenuItem } from '@/components/menu'
import { Since } from '@/components/time'
import { complain } from '@/components/toast'
import { Zoom } from '@/components/zoom'
import { bytes, plural } from '@/lib/format'
import { client } from '@/lib/queries'
import { dropFile, isPicture, opens } from './project-files'

interface FileRowProps {
  file: ArtifactData
  mayDelete: boolean
  onText: () => void
}

/** A file: its facts, whether its text can be searched, and its actions. */
export function FileRow({ file, mayDelete, onText }: FileRowProps) {
  const [asking, setAsking] = useState(false)
  const remove = () =>
    client.artifacts
      .delete(file.id)
      .then(() => dropFile(file.project_id, file.id))
      .catch(complain)
  const url = client.artifacts.contentUrl(file.id)
  return (
    <li data-file={file.id} data-state={file.state} className="flex items-center gap-3 px-4 py-3 sm:px-5">
      <Picture file={file} url={url} />
      <div className="min-w-0 flex-1">
        <p className="truncate">
          {file.state === 'ready' ? (
            <button className="max-w-full truncate text-left font-medium hover:underline" onClick={onText}>
              {file.name}
            </button>
          ) : opens(file) ? (
            <a className="font-medium hover:underline" href={url} target="_blank" rel="noreferrer">
              {file.name}
            </a>
          ) : (
            <span className="font-medium">{file.name}</span>
          )}
        </p>
        <p className="mt-0.5 flex flex-wrap items-center gap-x-2 text-xs text-faint">
          <span className="tabular-nums">
            {[
              bytes(file.size_bytes),
              ...(file.pages === null ? [] : [plural(file.pages, 'page')]),
              ...(file.width === null ? [] : [`${file.width} × ${file.height}`]),
            ].join(', ')}
          </span>
          <span>
            {file.created_by_name}, <Since iso={file.created_at} />
          </span>
          <Stand file={file} />
        </p>
      </div>
      <Menu
        align="end"
        trigger={
          <IconButton label={`Actions for ${file.name}`}>
            <MoreHorizontal />
          </IconButton>
        }
      >
        {file.state === 'ready' && (
          <MenuItem onSelect={onText}>
            <FileText />
            View text as agents see it
          </MenuItem>
        )}
        {opens(file) && (
          <MenuItem onSelect={() => window.open(url, '_blank', 'noreferrer')}>
            <ExternalLink />
            Open in a new tab
          </MenuItem>
        )}
        <MenuItem onSelect={() => location.assign(client.artifacts.contentUrl(file.id, true))}>
          <Download />
          Download
        </MenuItem>
        {mayDelete && (
          <MenuItem danger onSelect={() => setAsking(true)}>
            <Trash2 />
            Delete…
          </MenuItem>
        )}
      </Menu>
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title={`Delete ${file.name}?`}
        action="Delete"
        onConfirm={() => void remove()}
      >
        Agents can no longer search it. This cannot be undone.
      </Confirm>
    </li>
  )
}

function Picture({ file, url }: { file: ArtifactData; url: string }) {
  if (isPicture(file)) return <Zoom src={url} alt={file.name} className="size-11 shrink-0 rounded-lg" />
  const look = { 'application/pdf': <FileType />, 'text/csv': <Table2 /> }[file.media_type] ?? <FileText />
  return (
    <span
      className="grid size-11 shrink-0 place-items-center rounded-lg border border-line bg-side text-muted [&_svg]:size-5"
      aria-hidden
    >
      {look}
    </span>
  )
}

function Stand({ file }: { file: ArtifactData }) {
  if (file.state === 'reading')
    return (
      <span className="inline-flex items-center gap-1 text-muted" role="status">
        <LoaderCircle className="size-3.5 animate-spin" aria-hidden />
        reading its text…
      </span>
    )
  if (file.state === 'failed') return <span className="text-danger">{file.trouble}</span>
  if (file.trouble !== null && !isPicture(file)) return <span className="text-warn">{file.trouble}</span>
  return null
}
