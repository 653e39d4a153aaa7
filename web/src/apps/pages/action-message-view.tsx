import { MousePointerClick } from 'lucide-react'
import { useState } from 'react'
import { cn } from '@/lib/cn'
import { readActions } from './action-message'
import { foldActions, foldedText } from './action-text'

const FEW_ACTIONS = 3

/** Actions taken on a page: equal ones share a line, and only the first few lines are shown. */
export function ActionMessage({ text, className }: { text: string; className: string }) {
  const [all, setAll] = useState(false)
  const groups = foldActions(readActions(text) ?? [])
  const shown = all ? groups : groups.slice(0, FEW_ACTIONS)
  const rest = groups.slice(shown.length).reduce((sum, { actions }) => sum + actions.length, 0)
  return (
    <ul aria-label="Actions on the page" className={cn('flex max-w-[88%] flex-col items-end gap-1', className)}>
      {shown.map((group, at) => (
        <li
          key={at}
          className="flex max-w-full items-center gap-2 rounded-full border border-line bg-bubble px-3 py-1.5 text-[13px]"
        >
          <MousePointerClick className="size-3.5 shrink-0 text-faint" aria-hidden />
          <span className="truncate">{foldedText(group)}</span>
        </li>
      ))}
      {rest > 0 && (
        <li>
          <button className="rounded px-2 py-0.5 text-xs text-muted hover:text-fg" onClick={() => setAll(true)}>
            {rest} more
          </button>
        </li>
      )}
    </ul>
  )
}
