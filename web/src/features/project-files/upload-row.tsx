import { CircleAlert, RotateCw, X } from 'lucide-react'
import { IconButton } from '@/components/button'
import { OutlastError } from '@outlast/sdk'
import type { Upload } from './use-uploads'

/** An upload in progress, or the reason why it failed. */
export function UploadRow({
  upload: { name, share, error, again },
  onDismiss,
}: {
  upload: Upload
  onDismiss: () => void
}) {
  return (
    <li className="rounded-xl border border-line bg-raised px-4 py-2.5">
      <div className="flex items-center gap-3">
        <p className="min-w-0 flex-1 truncate">{name}</p>
        {error === null ? (
          <span className="text-xs text-muted tabular-nums">
            {share < 1 ? `${Math.round(share * 100)} %` : 'saving…'}
          </span>
        ) : (
          <span className="-my-1 flex">
            <IconButton label={`Try ${name} again`} size="icon-sm" onClick={again}>
              <RotateCw />
            </IconButton>
            <IconButton label={`Dismiss ${name}`} size="icon-sm" onClick={onDismiss}>
              <X />
            </IconButton>
          </span>
        )}
      </div>
      {error === null ? (
        <div
          role="progressbar"
          aria-label={`Uploading ${name}`}
          aria-valuenow={Math.round(share * 100)}
          className="mt-2 h-1 overflow-hidden rounded-full bg-active"
        >
          <div className="h-full rounded-full bg-accent transition-[width]" style={{ width: `${share * 100}%` }} />
        </div>
      ) : (
        <p role="alert" className="mt-1 flex gap-2 text-[13px] text-danger">
          <CircleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
          <span className="[overflow-wrap:anywhere]">
            {error.message} {error instanceof OutlastError && error.hint}
          </span>
        </p>
      )}
    </li>
  )
}
