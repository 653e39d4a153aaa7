import { ChevronRight, FileCode2 } from 'lucide-react'
import { useState } from 'react'
import type { ScreenFile } from '@outlast/sdk'
import { cn } from '@/lib/cn'
import { plural } from '@/lib/format'
import { useOpenCode } from '../code/open-code'

/** The files that an answer reports as changed, folded; each opens in the Code tab. */
export function AnswerFiles({ files }: { files: ScreenFile[] }) {
  const [open, setOpen] = useState(false)
  const openCode = useOpenCode()
  return (
    <section data-answer-files className="overflow-hidden rounded-xl border border-line bg-raised text-[13px]">
      <button
        aria-expanded={open}
        className="flex w-full items-center gap-2 px-3 py-2 text-left hover:bg-hover"
        onClick={() => setOpen(!open)}
      >
        <FileCode2 className="size-4 shrink-0 text-link" aria-hidden />
        <span className="min-w-0 flex-1 truncate font-medium">{plural(files.length, 'file')} in this answer</span>
        <ChevronRight
          className={cn('size-3.5 shrink-0 text-faint transition-transform', open && 'rotate-90')}
          aria-hidden
        />
      </button>
      {open && (
        <ul className="border-t border-line py-1">
          {files.map(({ path, description }) => (
            <li key={path}>
              {openCode === null ? (
                <div className="px-3 py-1">
                  <FileLine path={path} description={description} />
                </div>
              ) : (
                <button
                  className="block w-full px-3 py-1 text-left hover:bg-hover"
                  onClick={() => openCode({ view: 'files', path })}
                >
                  <FileLine path={path} description={description} />
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

const FileLine = ({ path, description }: ScreenFile) => (
  <>
    <span className="block truncate font-mono text-xs">{path}</span>
    {description !== '' && <span className="block text-xs text-faint">{description}</span>}
  </>
)
