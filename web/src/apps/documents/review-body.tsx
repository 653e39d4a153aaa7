import { ArrowRight, GitMerge, LoaderCircle, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import type { EditData } from '@outlast/sdk'
import { Button } from '@/components/button'
import { WordDiff } from '@/components/word-diff'
import { cn } from '@/lib/cn'
import { BlockText } from './block-text'
import { useTarget } from './review-facts'
import type { Standing } from './review-standing'

interface BodyProps {
  edit: EditData
  standing: Standing
  className?: string
}

/** The effect of an edit: added and removed words, new text, removed text or moved text. */
export function EditBody({ edit, standing, className }: BodyProps) {
  switch (edit.op) {
    case 'replace':
      return <WordDiff before={beforeOf(edit, standing)} after={afterOf(edit, standing)} className={className ?? ''} />
    case 'delete':
      return (
        <Bar look="gone" label="Removed text" className={className}>
          <del className="review-gone">
            <BlockText text={beforeOf(edit, standing)} />
          </del>
        </Bar>
      )
    case 'insert':
      return (
        <Bar look="new" label="New text" className={className}>
          <BlockText text={edit.new_text} />
        </Bar>
      )
    case 'insert_section':
      return (
        <Bar look="new" label="New section" className={className}>
          <p className="text-base font-semibold">{edit.heading}</p>
          {edit.new_text !== '' && <BlockText text={edit.new_text} />}
        </Bar>
      )
    case 'move':
      return (
        <Bar look="moved" label="Moved text" className={className}>
          <Target edit={edit} />
          <div className="max-h-40 overflow-y-auto opacity-70">
            <BlockText text={edit.old_text} />
          </div>
        </Bar>
      )
  }
}

const beforeOf = (edit: EditData, standing: Standing): string =>
  standing.kind === 'merged' || standing.kind === 'conflict' ? standing.block.markdown : edit.old_text

const afterOf = (edit: EditData, standing: Standing): string =>
  standing.kind === 'merged' ? standing.merge.text : edit.new_text

function Target({ edit }: { edit: EditData }) {
  return (
    <p className="mb-1 flex items-start gap-1.5 text-[13px] font-medium">
      <ArrowRight className="mt-0.5 size-3.5 shrink-0 text-link" aria-hidden />
      <span className="[overflow-wrap:anywhere]">to {useTarget(edit)}</span>
    </p>
  )
}

const BARS = {
  new: 'border-added',
  gone: 'border-removed',
  moved: 'border-dashed border-accent',
} as const

interface BarProps {
  look: keyof typeof BARS
  label: string
  className?: string | undefined
  children: ReactNode
}

const Bar = ({ look, label, className, children }: BarProps) => (
  <div role="group" aria-label={label} className={cn('border-l-3 pl-3', BARS[look], className)}>
    {children}
  </div>
)

/** A notice that others changed the text after the edit was proposed. */
export function StandingNote({ standing, resolve }: { standing: Standing; resolve: () => void }) {
  switch (standing.kind) {
    case 'fresh':
      return null
    case 'asking':
      return (
        <Note icon={<LoaderCircle className="animate-spin" />} className="text-muted">
          The text has changed. Merging both…
        </Note>
      )
    case 'merged':
      return (
        <Note icon={<GitMerge />} className="text-link">
          {standing.merge.text.trimEnd() === standing.block.markdown.trimEnd()
            ? 'The text already contains this edit. Accepting it changes nothing.'
            : `Merged with ${whose(standing.block.editor_name)} change to this text`}
        </Note>
      )
    case 'conflict':
      return (
        <div role="note" className="rounded-lg border border-warn-line bg-warn-soft px-3 py-2">
          <Note icon={<TriangleAlert />} className="text-warn">
            {standing.block.editor_name ?? 'Someone'} changed the same text after this was proposed.
          </Note>
          {standing.merge.wanted !== '' && (
            <Button size="sm" className="mt-2 max-md:h-10" onClick={resolve}>
              Compare and decide
            </Button>
          )}
        </div>
      )
    case 'failed':
      return (
        <Note icon={<TriangleAlert />} className="text-danger">
          {standing.error.message}{' '}
          <button className="underline underline-offset-2" onClick={standing.retry}>
            Try again
          </button>
        </Note>
      )
  }
}

const whose = (name: string | null): string => (name === null ? 'another' : `${name}\u2019s`)

const Note = ({ icon, className, children }: { icon: ReactNode; className: string; children: ReactNode }) => (
  <p className={cn('flex gap-1.5 text-[12.5px] [&_svg]:mt-0.5 [&_svg]:size-3.5 [&_svg]:shrink-0', className)}>
    <span aria-hidden>{icon}</span>
    <span>{children}</span>
  </p>
)
