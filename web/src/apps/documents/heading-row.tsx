import { useEffect, useLayoutEffect, useRef, type KeyboardEvent } from 'react'
import { useSelected } from '@outlast/sdk/react'
import { cn } from '@/lib/cn'
import { SectionMargin } from './block-slots'
import { positionOfClick } from './click-position'
import { useDocumentRoom } from './document-context'
import { DraftNote } from './draft-note'
import { grow, useGrowing } from './editor/auto-height'
import { useEditorSession, useDraftStatus } from './editor/use-editor-session'
import { headingKey, useFocusOf, type Caret } from './focus-store'
import { useSectionLock } from './section-lock'
import { neighbour } from './row-order'
import { SectionMenu } from './section-menu'
import { bodyOf, leaveByKey } from './use-row-moves'

const SIZES: Record<number, string> = {
  1: 'text-[1.75rem] leading-tight',
  2: 'text-[1.4rem] leading-snug',
  3: 'text-[1.15rem] leading-snug',
}

/** A section's heading, edited in place like a block, with the actions of the section. */
export function HeadingRow({ sectionId }: { sectionId: string }) {
  const { store, focus, mayEdit } = useDocumentRoom()
  const session = useEditorSession()
  const key = headingKey(sectionId)
  const heading = useSelected(store, ({ content }) => content.sections[sectionId]?.heading ?? '')
  const level = useSelected(store, ({ content }) => content.sections[sectionId]?.level ?? 1)
  const standing = useFocusOf(key)
  const status = useDraftStatus(key)
  const { state: lock } = useSectionLock(sectionId)
  const writable = mayEdit && lock !== 'theirs' && lock !== 'expired'
  const meeting = status?.state === 'conflict'
  const editing = standing === 'edited' && writable && !meeting
  const text = (status !== null && status.state !== 'clean' ? session.textOf(key) : null) ?? heading
  const Tag = `h${Math.min(level + 1, 6)}` as 'h2'
  const size = cn('font-semibold tracking-tight', SIZES[level] ?? 'text-[1.02rem] leading-snug')
  return (
    <div
      data-row={key}
      data-level={level}
      tabIndex={-1}
      className={cn('block-row heading-row group/row', editing && 'is-edited', standing === 'marked' && 'is-marked')}
    >
      <div className="block-main flex items-start gap-1.5">
        <div className="min-w-0 flex-1">
          {editing ? (
            <HeadingEditor sectionId={sectionId} text={heading} caret={focus.get().caret} className={size} />
          ) : (
            <Tag
              className={cn(size, '[overflow-wrap:anywhere]', writable && 'cursor-text', text === '' && 'text-faint')}
              onClick={(event) => {
                if (!writable || !(getSelection()?.isCollapsed ?? true)) return
                focus.edit(key, positionOfClick(event, event.currentTarget, text))
              }}
            >
              {text === '' ? 'Untitled section' : text}
            </Tag>
          )}
          {status !== null && <DraftNote status={status} present={heading} editing={editing} />}
        </div>
        <SectionMenu sectionId={sectionId} />
      </div>
      <SectionMargin sectionId={sectionId} />
    </div>
  )
}

interface HeadingEditorProps {
  sectionId: string
  text: string
  caret: Caret
  className: string
}

function HeadingEditor({ sectionId, text, caret, className }: HeadingEditorProps) {
  const { focus } = useDocumentRoom()
  const session = useEditorSession()
  const box = useRef<HTMLTextAreaElement>(null)
  const key = headingKey(sectionId)
  const first = useRef({ text, caret }).current
  useGrowing(box)
  useLayoutEffect(() => {
    session.open(key, first.text)
    const stop = session.show(key, (fresh) => {
      if (box.current !== null) box.current.value = fresh
    })
    return () => {
      stop()
      void session.close(key)
    }
  }, [session, key, first])
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const at = first.caret === 'start' ? 0 : first.caret === 'end' ? element.value.length : first.caret
    element.focus({ preventScroll: true })
    element.setSelectionRange(at, at)
    element.scrollIntoView({ block: 'nearest' })
  }, [first])
  const go = (by: -1 | 1) => {
    const next = neighbour(bodyOf(), key, by)
    if (next !== null) focus.edit(next, by === 1 ? 'start' : 'end')
  }
  const leave = () => leaveByKey(focus, key)
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    const { key: pressed, currentTarget } = event
    const { selectionStart, value } = currentTarget
    if (event.nativeEvent.isComposing || event.altKey) return
    if (pressed === 'Escape' || (pressed === 'Enter' && (event.ctrlKey || event.metaKey))) leave()
    else if (pressed === 'Enter') focus.edit(session.begin({ sectionId, after: null }), 'start')
    else if (pressed === 'ArrowUp' && selectionStart === 0) go(-1)
    else if (pressed === 'ArrowDown' && selectionStart === value.length) go(1)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <textarea
      ref={box}
      aria-label="Heading"
      data-writing={key}
      defaultValue={session.textOf(key) ?? text}
      rows={1}
      maxLength={300}
      placeholder="Heading"
      className={cn('block-writing', className)}
      onInput={(event) => {
        const { currentTarget } = event
        if (currentTarget.value.includes('\n')) currentTarget.value = currentTarget.value.replaceAll('\n', ' ')
        grow(currentTarget)
        session.type(key, currentTarget.value)
      }}
      onKeyDown={press}
      onBlur={() => (document.activeElement === box.current ? void session.save(key) : focus.leave(key))}
    />
  )
}
