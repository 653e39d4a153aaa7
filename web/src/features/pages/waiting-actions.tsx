import { MousePointerClick, Undo2 } from 'lucide-react'
import type { PageAction } from '@outlast/sdk'
import { plural } from '@/lib/format'
import { useMe } from '../session/session-gate'
import { wordsOf } from './action-words'

interface WaitingActionsProps {
  actions: readonly PageAction[]
  mayTakeBack: boolean
  onTakeBack: (action: PageAction) => void
}

/** What was done while the agent works: it is told all of it together, next. */
export function WaitingActions({ actions, mayTakeBack, onTakeBack }: WaitingActionsProps) {
  const me = useMe()
  if (actions.length === 0) return null
  return (
    <section aria-label="Waiting actions" className="rounded-xl border border-line bg-raised px-3 py-2 text-[13px]">
      <h2 className="text-xs text-muted">
        {plural(actions.length, 'action')} waiting: done together when this run ends
      </h2>
      <ul className="mt-1 space-y-0.5">
        {actions.map((action) => (
          <li key={action.id} data-waiting-action={action.id} className="flex items-center gap-2">
            <MousePointerClick className="size-3.5 shrink-0 text-faint" aria-hidden />
            <span className="min-w-0 flex-1 truncate">
              {wordsOf(action)}
              {action.by !== me.user.id && <span className="text-faint"> · {action.by_name}</span>}
            </span>
            {mayTakeBack && (
              <button
                className="flex shrink-0 items-center gap-1 rounded px-1.5 py-0.5 text-xs text-muted hover:bg-hover hover:text-fg"
                onClick={() => onTakeBack(action)}
              >
                <Undo2 className="size-3" aria-hidden />
                Take back
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
