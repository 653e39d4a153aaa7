import { ChevronLeft, Download } from 'lucide-react'
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { IconButton } from '@/components/button'
import { Tokens, useColoured } from '@/components/code'
import { CopyIcon } from '@/components/copy'
import { Problem } from '@/components/problem'
import { Skeleton } from '@/components/placeholders'
import { cn } from '@/lib/cn'
import { bytes } from '@/lib/format'
import { client } from '@/lib/queries'
import { endingOf, imageType } from './file-kind'

const SHOWN_BYTES = 256_000

interface CodeViewerProps {
  screenId: string
  path: string
  /** null while it loads. */
  content: Blob | null
  error: Error | null
  /** Scrolled to and highlighted. */
  line: number | null
  onBack: () => void
  retry: () => void
}

/** One file: code with colours and line numbers, images as images, other files by their size. */
export function CodeViewer({ screenId, path, content, error, line, onBack, retry }: CodeViewerProps) {
  const name = path.split('/').at(-1) ?? path
  const picture = imageType(path)
  const read = useText(picture === null ? content : null)
  const section = useRef<HTMLElement>(null)
  useEffect(() => {
    // In a narrow layout, the tree that had the focus is hidden.
    const held = document.activeElement
    if (held === document.body || held?.checkVisibility() === false) section.current?.focus()
  }, [path])
  return (
    <section
      ref={section}
      tabIndex={-1}
      aria-label={path}
      data-file={path}
      className="outline-none flex min-h-0 min-w-0 flex-1 flex-col"
    >
      <header className="flex h-9 shrink-0 items-center gap-1 border-b border-line px-1.5">
        <IconButton label="Back to the files" size="icon-sm" className="@xl:hidden" onClick={onBack}>
          <ChevronLeft />
        </IconButton>
        <span className="min-w-0 flex-1 truncate pl-1 font-mono text-[12.5px]" title={path}>
          <span className="text-faint">{path.slice(0, path.length - name.length)}</span>
          {name}
        </span>
        {read !== null && read !== 'none' && <CopyIcon label="Copy file" text={read.text} />}
        <a
          aria-label={`Download ${name}`}
          title="Download"
          href={client.url(`/v1/screens/${screenId}/files/content`, { path })}
          download={name}
          className="grid size-7 place-items-center rounded-md text-muted hover:bg-hover hover:text-fg"
        >
          <Download className="size-3.5" />
        </a>
      </header>
      <Body error={error} retry={retry} loading={content === null}>
        {content !== null && picture !== null && <Picture content={content} type={picture} name={name} />}
        {read === 'none' && content !== null && (
          <p className="p-4 text-muted">Not a text file ({bytes(content.size)}). Download it to view it.</p>
        )}
        {read !== null && read !== 'none' && <Lines read={read} path={path} marked={line} />}
      </Body>
    </section>
  )
}

interface BodyProps {
  error: Error | null
  loading: boolean
  retry: () => void
  children: ReactNode
}

function Body({ error, loading, retry, children }: BodyProps) {
  if (error !== null) return <Problem className="m-3" error={error} retry={retry} />
  if (!loading) return children
  return (
    <div role="status" aria-label="Loading the file" className="space-y-2 p-4">
      {[70, 45, 85, 60, 30].map((width) => (
        <div key={width} style={{ width: `${width}%` }}>
          <Skeleton className="h-3.5" />
        </div>
      ))}
    </div>
  )
}

interface ReadText {
  text: string
  /** The number of bytes that are not shown. */
  cut: number
}

/** The beginning of a text, up to the end of a line; null if it is not text. */
export async function readText(blob: Blob, most = SHOWN_BYTES): Promise<ReadText | null> {
  const long = blob.size > most
  const content = new Uint8Array(await blob.slice(0, most).arrayBuffer())
  try {
    const text = new TextDecoder('utf-8', { fatal: !long }).decode(content)
    if (text.includes('\0')) return null
    const shown = long ? text.slice(0, text.lastIndexOf('\n') + 1 || text.length) : text
    return { text: shown, cut: long ? blob.size - new Blob([shown]).size : 0 }
  } catch {
    return null
  }
}

/** null while it is read, `none` if it is not text. The previous text stays until the next one is read. */
function useText(content: Blob | null): ReadText | 'none' | null {
  const [read, setRead] = useState<{ of: Blob; text: ReadText | 'none' } | null>(null)
  useEffect(() => {
    if (content === null) return
    let stale = false
    void readText(content).then((text) => stale || setRead({ of: content, text: text ?? 'none' }))
    return () => {
      stale = true
    }
  }, [content])
  return content === null ? null : (read?.text ?? null)
}

function Picture({ content, type, name }: { content: Blob; type: string; name: string }) {
  const url = useMemo(() => URL.createObjectURL(new Blob([content], { type })), [content, type])
  useEffect(() => () => URL.revokeObjectURL(url), [url])
  return (
    <div className="grid min-h-0 flex-1 place-items-center overflow-auto bg-code p-4">
      <figure className="text-center">
        <img src={url} alt={name} className="mx-auto max-h-[60vh] max-w-full rounded border border-line" />
        <figcaption className="mt-2 text-xs text-faint">{bytes(content.size)}</figcaption>
      </figure>
    </div>
  )
}

function Lines({ read, path, marked }: { read: ReadText; path: string; marked: number | null }) {
  const lines = useMemo(() => read.text.replace(/\n$/, '').split('\n'), [read.text])
  const coloured = useColoured(read.text, endingOf(path))
  const box = useRef<HTMLPreElement>(null)
  useEffect(() => {
    if (marked === null) box.current?.scrollTo({ top: 0 })
    else box.current?.querySelector(`[data-number="${marked}"]`)?.scrollIntoView({ block: 'center' })
  }, [marked, path])
  return (
    <pre
      ref={box}
      tabIndex={0}
      aria-label={`Content of ${path}`}
      className="min-h-0 flex-1 overflow-auto bg-code py-2 font-mono text-xs leading-[1.65] outline-none"
    >
      <code className="block w-max min-w-full">
        {lines.map((line, at) => (
          <div
            key={at}
            className={cn(
              'flex pr-4 whitespace-pre',
              at + 1 === marked && 'bg-warn-soft shadow-[inset_2px_0_var(--amber)]',
            )}
            {...(at + 1 === marked && { 'data-marked': '' })}
          >
            <span
              aria-hidden
              data-number={at + 1}
              className="sticky left-0 mr-3 w-10 shrink-0 bg-inherit pl-1 text-right text-faint/70 select-none before:content-[attr(data-number)]"
            />
            <span>{coloured?.[at] === undefined ? line : <Tokens tokens={coloured[at]} />}</span>
          </div>
        ))}
      </code>
      {read.cut > 0 && (
        <p data-cut className="mt-2 border-t border-line px-4 pt-2 font-sans whitespace-normal text-muted">
          {bytes(read.cut)} more are not shown. Download the file to read all of it.
        </p>
      )}
    </pre>
  )
}
