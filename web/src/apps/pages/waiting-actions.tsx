import { MousePointerClick, Undo2 } from 'lucide-react'
import type { PageAction } from '@outlast/sdk'
import { plural } from '@/lib/format'
import { useMe } from '@/features/session/session-gate'
import { foldActions, foldedText } from './action-text'

interface WaitingActionsProps {
  actions: readonly PageAction[]
  mayTakeBack: boolean
  onTakeBack: (actions: readonly PageAction[]) => void
}

/** More lines than this would cover the page. */
const SHOWN = 3

/** Actions taken while the agent works: it receives all of them together when the run ends. */
export function WaitingActions({ actions, mayTakeBack, onTakeBack }: WaitingActionsProps) {
  const me = useMe()
  if (actions.length === 0) return null
  const groups = foldActions(actions)
  const rest = groups.slice(SHOWN).reduce((sum, one) => sum + one.actions.length, 0)
  return (
    <section aria-label="Waiting actions" className="rounded-xl border border-line bg-raised px-3 py-2 text-[13px]">
      <div className="flex items-center gap-2">
        <h2 className="min-w-0 flex-1 truncate text-xs text-muted">
          {plural(actions.length, 'action')} waiting until this run ends
        </h2>
        {mayTakeBack && actions.length > 1 && <TakeBack label="Cancel all" onClick={() => onTakeBack(actions)} />}
      </div>
      <ul className="mt-1 space-y-0.5">
        {groups.slice(0, SHOWN).map((group) => {
          const [action] = group.actions
          if (action === undefined) return null
          return (
            <li key={action.id} data-waiting-action={action.id} className="flex items-center gap-2">
              <MousePointerClick className="size-3.5 shrink-0 text-faint" aria-hidden />
              <span className="min-w-0 flex-1 truncate">
                {foldedText(group)}
                {action.by !== me.user.id && <span className="text-faint"> · {action.by_name}</span>}
              </span>
              {mayTakeBack && <TakeBack label="Cancel" onClick={() => onTakeBack(group.actions)} />}
            </li>
          )
        })}
        {rest > 0 && <li className="pl-5.5 text-xs text-faint">and {rest} more</li>}
      </ul>
    </section>
  )
}

const TakeBack = ({ label, onClick }: { label: string; onClick: () => void }) => (
  <button
    className="flex shrink-0 items-center gap-1 rounded px-1.5 py-0.5 text-xs text-muted hover:bg-hover hover:text-fg"
    onClick={onClick}
  >
    <Undo2 className="size-3" aria-hidden />
    {label}
  </button>
)
