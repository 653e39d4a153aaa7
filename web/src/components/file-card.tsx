import { File, FileArchive, FileImage, FileSpreadsheet, FileText, type LucideIcon } from 'lucide-react'
import { createElement, type ReactNode } from 'react'
import { cn } from '@/lib/cn'
import { bytes } from '@/lib/format'

const KINDS: [RegExp, LucideIcon][] = [
  [/^image\//, FileImage],
  [/spreadsheet|excel|csv|tab-separated/, FileSpreadsheet],
  [/zip|tar|compressed/, FileArchive],
  [/^text\/|pdf|json|word|document|presentation/, FileText],
]

const iconOf = (mediaType: string): LucideIcon => KINDS.find(([kind]) => kind.test(mediaType))?.[1] ?? File

interface FileCardProps {
  name: string
  mediaType: string
  size: number
  /** Shown after the size. */
  about?: string
  /** Where the file can be downloaded; without it the card is not a link. */
  href?: string
  children?: ReactNode
  className?: string
}

/** A file with the icon of its kind, its name and its size. */
export function FileCard({ name, mediaType, size, about = '', href, children, className }: FileCardProps) {
  const look = cn(
    'flex w-64 max-w-full items-center gap-2.5 rounded-lg border border-line bg-raised px-3 py-2 text-left',
    href !== undefined && 'hover:border-line-strong hover:bg-side focus-visible:outline-2',
    className,
  )
  const body = (
    <>
      {createElement(iconOf(mediaType), { className: 'size-5 shrink-0 text-muted', 'aria-hidden': true })}
      <span className="min-w-0 flex-1">
        <span className="block truncate text-[13px] font-medium">{name}</span>
        <span className="block truncate text-xs text-muted">
          {bytes(size)}
          {about !== '' && ` · ${about}`}
        </span>
        {children}
      </span>
    </>
  )
  return href === undefined ? (
    <div className={look} title={name}>
      {body}
    </div>
  ) : (
    <a className={look} href={href} download={name} title={`Download ${name}`} aria-label={`Download ${name}`}>
      {body}
    </a>
  )
}
