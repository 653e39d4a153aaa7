import { Globe } from 'lucide-react'
import { useState } from 'react'
import type { SourceLink, SourcesPart } from '@outlast/sdk'
import { plural } from '@/lib/format'

const SHOWN = 4

/** The web pages that a tool's result comes from, as links with their hosts; the first four until opened. */
export function SourceLinks({ part }: { part: SourcesPart }) {
  const [open, setOpen] = useState(false)
  const links = part.sources.flatMap((source) => {
    const host = hostOf(source)
    return host === null ? [] : [{ ...source, host }]
  })
  if (links.length === 0) return null
  const hidden = links.length - SHOWN
  return (
    <ul aria-label="Sources" data-sources className="space-y-1 border-t border-line px-3 py-2 text-[13px]">
      {(open ? links : links.slice(0, SHOWN)).map(({ url, title, host }) => (
        <li key={url} className="flex min-w-0 items-baseline gap-2">
          <Globe className="size-3.5 shrink-0 self-center text-faint" aria-hidden />
          <a
            href={url}
            title={url}
            target="_blank"
            rel="noreferrer noopener"
            className="min-w-0 truncate text-link hover:underline"
          >
            {title || url}
          </a>
          <span className="max-w-[40%] shrink-0 truncate text-xs text-faint">{host}</span>
        </li>
      ))}
      {!open && hidden > 0 && (
        <li>
          <button className="text-xs text-muted hover:text-fg" onClick={() => setOpen(true)}>
            Show {plural(hidden, 'more source')}
          </button>
        </li>
      )}
    </ul>
  )
}

/** The host of a web address; null for any other. */
function hostOf({ url }: SourceLink): string | null {
  try {
    const { protocol, host } = new URL(url)
    return protocol === 'http:' || protocol === 'https:' ? host.replace(/^www\./, '') : null
  } catch {
    return null
  }
}
