import { Bot, MessageSquarePlus } from 'lucide-react'
import { useCallback, useState, type ReactNode } from 'react'
import { createPortal } from 'react-dom'
import { Kbd } from '@/components/kbd'
import { useKeyBindings } from '@/lib/key-bindings'
import { useDocumentRoom } from '../document-context'
import { setAbout } from './comment-draft'
import { useSelected, type Selected } from './text-selection'

const BAR_PX = { width: 268, height: 38 }

/** Over selected text: comment on it, or ask the agent about it. */
export function SelectionBar() {
  const { documentId, mayEdit, openPanel } = useDocumentRoom()
  const [box, setBox] = useState<HTMLElement | null>(null)
  const mounted = useCallback((mark: HTMLElement | null) => {
    setBox(mark?.closest<HTMLElement>('[data-document-body]') ?? null)
  }, [])
  const [selected, clear] = useSelected(mayEdit ? box : null)
  const begin = (tab: 'comments' | 'thread') => {
    if (selected === null) return
    clear()
    setAbout(tab === 'comments' ? 'comment' : 'ask', documentId, selected.about)
    openPanel(tab)
  }
  useKeyBindings(selected === null ? {} : { c: () => begin('comments'), a: () => begin('thread') }, { beside: true })
  return (
    <>
      <span ref={mounted} hidden />
      {selected !== null &&
        createPortal(
          <div
            role="toolbar"
            aria-label="About the selected text"
            data-selection-bar
            style={placeOf(selected)}
            className="fixed z-40 flex w-max rounded-xl border border-line bg-raised p-0.5 shadow-pop animate-in pointer-coarse:p-1"
            // Keep the selection while the pointer moves to the buttons.
            onPointerDown={(event) => event.preventDefault()}
          >
            <Action icon={<MessageSquarePlus />} letter="C" onClick={() => begin('comments')}>
              Comment
            </Action>
            <span className="my-1.5 w-px bg-line" />
            <Action icon={<Bot />} letter="A" onClick={() => begin('thread')}>
              Ask agent
            </Action>
          </div>,
          document.body,
        )}
    </>
  )
}

interface ActionProps {
  icon: ReactNode
  /** The keyboard shortcut. */
  letter: string
  children: string
  onClick: () => void
}

const Action = ({ icon, letter, children, onClick }: ActionProps) => (
  <button
    aria-keyshortcuts={letter}
    className="flex h-8 shrink-0 items-center gap-1.5 rounded-lg px-2.5 font-medium whitespace-nowrap hover:bg-hover pointer-coarse:h-10 pointer-coarse:px-4 [&_svg]:size-4 [&_svg]:text-muted"
    onClick={onClick}
  >
    {icon}
    {children}
    <span aria-hidden>
      <Kbd className="ml-0.5">{letter}</Kbd>
    </span>
  </button>
)

/** Above the selection, or below it if there is no room. Phones show their own bar above the selection, so there it is
 * at the bottom of the screen. */
function placeOf({ rect }: Selected): React.CSSProperties {
  if (matchMedia('(pointer: coarse)').matches) return { bottom: 16, left: '50%', translate: '-50%' }
  const middle = rect.left + rect.width / 2 - BAR_PX.width / 2
  const above = rect.top - BAR_PX.height - 8
  return {
    left: Math.max(8, Math.min(middle, innerWidth - BAR_PX.width - 8)),
    top: above > 60 ? above : Math.min(rect.bottom + 8, innerHeight - BAR_PX.height - 8),
  }
}
