import { LoaderCircle, TriangleAlert, X } from 'lucide-react'
import type { Draft } from './attachments'

export function Thumbnails({ drafts, onRemove }: { drafts: Draft[]; onRemove: (key: string) => void }) {
  return (
    <ul className="flex flex-wrap gap-2 px-3 pt-3" aria-label="Attached images">
      {drafts.map(({ key, name, preview, attachment, sent, error }) => (
        <li key={key} className="relative" title={error ?? name}>
          <img src={preview} alt={name} className="size-16 rounded-lg border border-line object-cover" />
          {attachment === null && (
            <span className="absolute inset-0 grid place-items-center rounded-lg bg-black/45 text-white">
              {error === null ? (
                <span
                  role="progressbar"
                  aria-label={`Uploading ${name}`}
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
          <button
            aria-label={`Remove ${name}`}
            className="absolute -top-1.5 -right-1.5 grid size-5 place-items-center rounded-full border border-line-strong bg-raised text-muted hover:text-fg"
            onClick={() => onRemove(key)}
          >
            <X className="size-3" />
          </button>
        </li>
      ))}
    </ul>
  )
}
