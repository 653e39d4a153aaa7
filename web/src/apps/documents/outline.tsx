import { LockKeyhole } from 'lucide-react'
import { memo, useRef, type KeyboardEvent, type PointerEvent } from 'react'
import { useSelected } from '@outlast/sdk/react'
import { cn } from '@/lib/cn'
import { useDocumentRoom } from './document-context'
import { startDrag } from './block-drag'
import { sectionFamily, sectionMoves, sectionStepped } from './block-moves'
import { useCurrentSection } from './use-current-section'
import { useOrder } from './use-document'
import { useSectionLock } from './section-lock'
import { refused } from './use-row-moves'

/** The sections by level, with the current one highlighted. Click to go to a section; drag it (or press Alt and an
 * arrow key) to move it. */
export function Outline({ onGo }: { onGo?: () => void }) {
  const order = useOrder()
  const current = useCurrentSection()
  const list = useRef<HTMLOListElement>(null)
  const press = (event: KeyboardEvent<HTMLOListElement>) => {
    if (event.altKey || (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) return
    event.preventDefault()
    const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-outline] > button')]
    const at = items.indexOf(document.activeElement as HTMLElement)
    items[at + (event.key === 'ArrowDown' ? 1 : -1)]?.focus()
  }
  return (
    <nav aria-label="Outline" className="flex min-h-0 flex-1 flex-col">
      <ol ref={list} className="min-h-0 flex-1 space-y-px overflow-y-auto px-2 pb-6" onKeyDown={press}>
        {order.map((id) => (
          <Entry key={id} sectionId={id} current={id === current} list={list} {...(onGo !== undefined && { onGo })} />
        ))}
      </ol>
    </nav>
  )
}

interface EntryProps {
  sectionId: string
  current: boolean
  list: React.RefObject<HTMLOListElement | null>
  onGo?: () => void
}

const Entry = memo(function Entry({ sectionId, current, list, onGo }: EntryProps) {
  const { store, scrollToSection, mayEdit } = useDocumentRoom()
  const heading = useSelected(store, ({ content }) => content.sections[sectionId]?.heading ?? '')
  const level = useSelected(store, ({ content }) => content.sections[sectionId]?.level ?? 1)
  const { lock, state } = useSectionLock(sectionId)
  const intro = level === 0
  const go = () => {
    scrollToSection(sectionId)
    onGo?.()
  }
  const drag = (event: PointerEvent<HTMLElement>) => {
    const area = list.current
    if (area === null || event.pointerType === 'touch') return
    const { content } = store.get()
    const family = new Set(sectionFamily(content, sectionId))
    const items = [...area.querySelectorAll<HTMLElement>('[data-outline]')].filter((one) =>
      family.has(one.dataset['outline'] ?? ''),
    )
    startDrag(event, {
      area,
      selector: '[data-outline]',
      items,
      onClick: go,
      onDrop: (target, side) => {
        const id = target.dataset['outline'] ?? ''
        const { order } = store.get().content
        const after = side === 'after' ? id : (order[order.indexOf(id) - 1] ?? null)
        const moves = sectionMoves(store.get().content, sectionId, after)
        if (moves.length > 0) store.change(moves).catch(refused)
      },
    })
  }
  const press = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : null
    if (!event.altKey || by === null || !mayEdit || intro) return
    event.preventDefault()
    const moves = sectionStepped(store.get().content, sectionId, by)
    const { currentTarget } = event
    if (moves.length === 0) return
    store.change(moves).catch(refused)
    requestAnimationFrame(() => (currentTarget as HTMLElement).focus())
  }
  return (
    <li data-outline={sectionId} style={{ paddingLeft: `${Math.max(0, level - 1) * 0.8}rem` }}>
      <button
        aria-current={current ? 'location' : undefined}
        className={cn(
          'flex w-full items-center gap-1.5 rounded-md px-2 py-1 text-left leading-snug pointer-coarse:py-2.5',
          current ? 'bg-active font-medium text-fg' : 'text-muted hover:bg-hover hover:text-fg',
          level > 2 && 'text-[12.5px]',
        )}
        onClick={(event) => (event.detail === 0 || !mayEdit || intro || isTouch()) && go()}
        onPointerDown={mayEdit && !intro ? drag : undefined}
        onKeyDown={press}
      >
        <span className={cn('min-w-0 flex-1 truncate', (intro || heading === '') && 'text-faint italic')}>
          {intro ? 'Beginning' : heading === '' ? 'Untitled section' : heading}
        </span>
        {lock !== null && state !== 'free' && (
          <LockKeyhole
            aria-label={state === 'mine' ? 'Locked by you' : `Locked by ${lock.holder_name}`}
            className={cn('size-3 shrink-0', state === 'mine' ? 'text-link' : 'text-warn')}
          />
        )}
      </button>
    </li>
  )
})

const isTouch = (): boolean => matchMedia('(pointer: coarse)').matches
