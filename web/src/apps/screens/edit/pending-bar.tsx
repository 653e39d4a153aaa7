import { ArrowRight, ChevronDown, Save, Trash2, Undo2 } from 'lucide-react'
import { useState } from 'react'
import { classesAfter, editsOf, isStyled, keyOf, type PendingElement } from '@outlast/sdk'
import { Button, IconButton } from '@/components/button'
import { Problem } from '@/components/problem'
import { cn } from '@/lib/cn'
import { useEditing } from './edit-context'
import { SaveProblem } from './save-problem'

/** Unsaved changes, with buttons to save and discard them, and to undo a save. */
export function PendingBar({ blocked }: { blocked: boolean }) {
  const { edit } = useEditing()
  const { pending, saved, saving, error, session } = edit
  const [open, setOpen] = useState(false)
  if (pending.length === 0 && saved.length === 0 && error === null) return null
  const trouble = pending.some((one) => one.problem !== null || (one.locked !== null && isStyled(one)))
  const savable = pending.some((one) => editsOf(one, session.merge).length > 0 || one.locked === null)
  return (
    <footer
      data-pending={pending.length}
      className="shrink-0 border-t border-line bg-bg shadow-[0_-6px_16px_-8px_rgb(0_0_0/0.12)]"
    >
      {error !== null && <Problem className="m-3 mb-0" error={error} />}
      {pending.length > 0 && (open || trouble) && (
        <ul aria-label="Pending changes" className="max-h-60 divide-y divide-line overflow-y-auto">
          {pending.map((one) => (
            <Pending key={keyOf(one)} one={one} />
          ))}
        </ul>
      )}
      <div className="flex items-center gap-2 p-3">
        {pending.length > 0 ? (
          <>
            <button
              aria-expanded={open}
              onClick={() => setOpen(!open)}
              className="flex min-w-0 flex-1 items-center gap-1 text-left text-[13px] text-muted hover:text-fg"
            >
              <ChevronDown className={cn('size-4 shrink-0 transition-transform', open && 'rotate-180')} aria-hidden />
              <span className="truncate">
                {pending.length === 1 ? '1 element changed' : `${pending.length} elements changed`}
              </span>
            </button>
            <Button size="sm" look="ghost" disabled={saving} onClick={() => session.discard()}>
              Discard
            </Button>
            <Button
              size="sm"
              look="primary"
              busy={saving}
              disabled={blocked || !savable}
              onClick={() => void session.save()}
            >
              <Save />
              Save
            </Button>
          </>
        ) : (
          <>
            <p role="status" className="min-w-0 flex-1 truncate text-[13px] text-muted">
              {saved.length > 0 ? 'Saved to the source code' : ''}
            </p>
            {saved.length > 0 && (
              <Button size="sm" busy={saving} disabled={blocked} onClick={() => void session.undo()}>
                <Undo2 />
                Undo
              </Button>
            )}
          </>
        )}
      </div>
    </footer>
  )
}

function Pending({ one }: { one: PendingElement }) {
  const { edit } = useEditing()
  const { session } = edit
  return (
    <li className="px-4 py-2.5">
      <div className="flex items-center gap-2">
        <button
          className="min-w-0 flex-1 truncate text-left text-[13px] font-medium hover:underline"
          onClick={() => session.select({ aim: one.aim, mark: one.mark })}
        >
          {one.label}{' '}
          <span className="font-mono text-[11.5px] font-normal text-faint">{one.mark.replace(/:\d+$/, '')}</span>
        </button>
        <IconButton
          size="icon-sm"
          label={`Discard the changes of ${one.label}`}
          onClick={() => session.discard(keyOf(one))}
        >
          <Trash2 />
        </IconButton>
      </div>
      <Differences one={one} />
      <SaveProblem one={one} />
    </li>
  )
}

function Differences({ one }: { one: PendingElement }) {
  const { edit } = useEditing()
  const { merge } = edit.session
  const before = new Set(one.seen.classes.split(/\s+/).filter((name) => name !== ''))
  const after = new Set(
    classesAfter(one, merge)
      .split(/\s+/)
      .filter((name) => name !== ''),
  )
  const removed = [...before].filter((name) => !after.has(name))
  const come = [...after].filter((name) => !before.has(name))
  const previewed = one.locked === null ? [] : Object.entries(one.styles)
  const others = editsOf(one, merge).filter(({ kind }) => kind !== 'classes')
  return (
    <dl className="mt-1 space-y-1 text-[12px] [overflow-wrap:anywhere]">
      {previewed.map(([property, { value }]) => (
        <Difference key={property} name={property} before="" after={value} mono />
      ))}
      {one.locked === null && removed.length + come.length > 0 && (
        <Difference name="classes" before={removed.join(' ')} after={come.join(' ')} mono />
      )}
      {others.map(({ kind, attribute, seen, value }) => (
        <Difference key={attribute ?? kind} name={attribute ?? 'text'} before={seen ?? ''} after={value} />
      ))}
    </dl>
  )
}

const Difference = ({
  name,
  before,
  after,
  mono = false,
}: {
  name: string
  before: string
  after: string
  mono?: boolean
}) => (
  <div className="flex gap-2">
    <dt className="min-w-12 shrink-0 text-faint">{name}</dt>
    <dd className={cn('flex min-w-0 flex-wrap items-center gap-x-1.5', mono && 'font-mono text-[11.5px]')}>
      {before !== '' && <del className="text-muted">{before}</del>}
      <ArrowRight className="size-3 shrink-0 text-faint" aria-label="becomes" />
      <ins className="text-added no-underline">{after === '' ? 'nothing' : after}</ins>
    </dd>
  </div>
)
