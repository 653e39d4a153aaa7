import { LoaderCircle, RotateCw, TriangleAlert, X } from 'lucide-react'
import { FileCard } from '@/components/file-card'
import type { Draft } from './attachments'

interface ThumbnailsProps {
  drafts: Draft[]
  onRemove: (key: string) => void
  onRetry: (key: string) => void
}

/** The files of a message that is being written: images as pictures, others as cards. */
export const Thumbnails = ({ drafts, onRemove, onRetry }: ThumbnailsProps) => (
  <ul className="flex flex-wrap gap-2 px-3 pt-3" aria-label="Attached files">
    {drafts.map((draft) => (
      <li key={draft.key} className="relative max-w-full" title={draft.error ?? draft.file.name}>
        {draft.preview !== null ? <ImageDraft draft={draft} /> : <FileDraft draft={draft} />}
        {draft.error !== null && (
          <button
            aria-label={`Retry ${draft.file.name}`}
            className="absolute right-1 bottom-1 grid size-7 place-items-center rounded-full border border-line-strong bg-raised text-muted hover:text-fg"
            onClick={() => onRetry(draft.key)}
          >
            <RotateCw className="size-3.5" />
          </button>
        )}
        <button
          aria-label={`Remove ${draft.file.name}`}
          className="absolute -top-1.5 -right-1.5 grid size-5 place-items-center rounded-full border border-line-strong bg-raised text-muted hover:text-fg"
          onClick={() => onRemove(draft.key)}
        >
          <X className="size-3" />
        </button>
      </li>
    ))}
  </ul>
)

const ImageDraft = ({ draft: { file, preview, attachment, sent, error } }: { draft: Draft }) => (
  <>
    <img src={preview ?? ''} alt={file.name} className="size-16 rounded-lg border border-line object-cover" />
    {attachment === null && (
      <span className="absolute inset-0 grid place-items-center rounded-lg bg-black/45 text-white">
        {error === null ? (
          <span
            role="progressbar"
            aria-label={`Uploading ${file.name}`}
            aria-valuenow={Math.round(sent * 100)}
            className="flex flex-col items-center text-[11px] font-medium tabular-nums"
          >
            <LoaderCircle className="size-4 animate-spin" aria-hidden />
            {Math.round(sent * 100)}%
          </span>
        ) : (
          <TriangleAlert className="size-4" aria-label={error} />
        )}
      </span>
    )}
  </>
)

const FileDraft = ({ draft: { file, attachment, sent, error } }: { draft: Draft }) => (
  <FileCard name={file.name} mediaType={attachment?.media_type ?? file.type} size={file.size}>
    {error !== null && <span className="block pr-7 text-xs text-danger">{error}</span>}
    {attachment === null && error === null && (
      <span
        role="progressbar"
        aria-label={`Uploading ${file.name}`}
        aria-valuenow={Math.round(sent * 100)}
        className="mt-1 block h-1 overflow-hidden rounded-full bg-line"
      >
        <span className="block h-full bg-accent transition-[width]" style={{ width: `${Math.max(sent * 100, 4)}%` }} />
      </span>
    )}
  </FileCard>
)
