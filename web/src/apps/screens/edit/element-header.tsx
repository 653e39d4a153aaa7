import { Camera, ChevronRight, X } from 'lucide-react'
import { Fragment, useLayoutEffect, useRef, useState } from 'react'
import type { Crumb } from '@outlast/sdk'
import { IconButton } from '@/components/button'
import { complain, say } from '@/components/toast'
import { cn } from '@/lib/cn'
import { putElement } from '../chat/draft-store'
import { useEditing } from './edit-context'

/** The chosen element: its path in the page, its name, its place in the source. */
export function ElementHeader() {
  const { screen, edit } = useEditing()
  const { element, source, aim, session } = edit
  const [capturing, setCapturing] = useState(false)
  if (element === null) return null
  const mark = aim === 'use' ? element.use : element.loc
  const capture = async () => {
    if (capturing) return
    setCapturing(true)
    try {
      const { label, html, css, loc } = await session.capture()
      putElement(screen.id, { label, html, css, ...(loc !== null && { loc }) })
      say('Added to your next message in the chat')
    } catch (error) {
      complain(error as Error)
    } finally {
      setCapturing(false)
    }
  }
  return (
    <header className="border-b border-line px-4 py-3">
      <Path path={element.path} onSelect={(at) => session.select({ at })} />
      <div className="mt-1.5 flex items-center gap-1">
        <div className="min-w-0 flex-1">
          <h2 data-chosen={source?.tag ?? element.tag} className="truncate text-[15px] font-semibold">
            {source?.tag ?? element.label}
          </h2>
          <p className="truncate font-mono text-[11.5px] text-faint" title={mark ?? ''}>
            {placeOf(mark)}
            {element.count > 1 && <span className="font-sans"> · shown {element.count} times</span>}
          </p>
        </div>
        <IconButton label="Add to the chat" aria-busy={capturing} onClick={() => void capture()}>
          <Camera />
        </IconButton>
        <IconButton label="Clear selection" keys="Esc" onClick={() => session.select({ clear: true })}>
          <X />
        </IconButton>
      </div>
      {element.use !== null && element.loc !== null && <Aim />}
    </header>
  )
}

const placeOf = (mark: string | null): string => /^(.+:\d+):\d+$/.exec(mark ?? '')?.[1] ?? mark ?? ''

function Path({ path, onSelect }: { path: Crumb[]; onSelect: (at: number) => void }) {
  const end = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    if (end.current !== null) end.current.scrollLeft = end.current.scrollWidth
  }, [path])
  return (
    <nav ref={end} aria-label="Element path" className="-mx-1 overflow-x-auto [scrollbar-width:none]">
      <ol className="flex w-max items-center">
        {path.map((crumb, at) => {
          const last = at === path.length - 1
          return (
            <Fragment key={at}>
              {at > 0 && <ChevronRight className="size-3 shrink-0 text-faint" aria-hidden />}
              <li className="shrink-0">
                <button
                  aria-current={last ? 'true' : undefined}
                  onClick={() => onSelect(at)}
                  className={cn(
                    'rounded px-1 py-0.5 text-[11.5px] hover:bg-hover',
                    last ? 'font-medium text-fg' : 'text-muted',
                  )}
                >
                  {crumb.label}
                </button>
              </li>
            </Fragment>
          )
        })}
      </ol>
    </nav>
  )
}

/** An element of a component can be changed only where it is used, or in the component itself. */
function Aim() {
  const { edit } = useEditing()
  const { aim, session } = edit
  const choices = [
    { aim: 'use' as const, label: 'Only this element' },
    { aim: 'loc' as const, label: 'Every use of the component' },
  ]
  return (
    <div role="radiogroup" aria-label="Apply changes to" className="mt-2.5 flex gap-0.5 rounded-lg bg-hover p-0.5">
      {choices.map((choice) => (
        <button
          key={choice.aim}
          role="radio"
          aria-checked={aim === choice.aim}
          onClick={() => session.choose(choice.aim)}
          className={cn(
            'h-7 flex-1 rounded-md px-2 text-[12px] transition-colors',
            aim === choice.aim ? 'bg-raised font-medium shadow-sm dark:bg-line-strong' : 'text-muted hover:text-fg',
          )}
        >
          {choice.label}
        </button>
      ))}
    </div>
  )
}
