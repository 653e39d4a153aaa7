import { Bot, FileText, GitPullRequestArrow, History, MessageSquareText, X, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { IconButton } from '@/components/button'
import { ErrorBoundary } from '@/components/error-boundary'
import { cn } from '@/lib/cn'
import { stepTabs } from '@/lib/tabs'
import { CommentsPanel } from './comments-panel'
import { useDocumentRoom, usePanel, type PanelTab } from './document-context'
import { HistoryPanel } from './history-panel'
import { ReviewPanel } from './review-panel'
import { ThreadPanel } from './thread-panel'
import { useDocumentData } from './use-document'

const TABS: Record<PanelTab, [label: string, icon: LucideIcon]> = {
  comments: ['Comments', MessageSquareText],
  thread: ['Agent', Bot],
  review: ['Review', GitPullRequestArrow],
  history: ['History', History],
}

export const isTab = (name: string): name is PanelTab => name in TABS

interface PanelTabsProps {
  /** On a phone the document itself is a tab. */
  withDocument?: boolean
  children?: ReactNode
}

export function PanelTabs({ withDocument = false, children }: PanelTabsProps) {
  const { openPanel, closePanel } = useDocumentRoom()
  const { tab } = usePanel()
  const document = useDocumentData()
  const counts: Partial<Record<PanelTab, number>> = {
    comments: document?.open_comments ?? 0,
    review: document?.open_edits ?? 0,
  }
  return (
    <div className="flex shrink-0 items-center gap-1 border-b border-line px-2 py-1.5">
      <div role="tablist" aria-label="Document panel" className="flex min-w-0 flex-1 gap-0.5" onKeyDown={stepTabs}>
        {withDocument && <Tab on={tab === null} label="Text" icon={FileText} onSelect={closePanel} />}
        {Object.entries(TABS).map(([name, [label, icon]]) => (
          <Tab
            key={name}
            on={tab === name}
            label={label}
            icon={icon}
            count={counts[name as PanelTab] ?? 0}
            onSelect={() => openPanel(name as PanelTab)}
          />
        ))}
      </div>
      {children}
    </div>
  )
}

interface TabProps {
  on: boolean
  label: string
  icon: LucideIcon
  count?: number
  onSelect: () => void
}

const Tab = ({ on, label, icon: Icon, count = 0, onSelect }: TabProps) => (
  <button
    role="tab"
    aria-selected={on}
    tabIndex={on ? 0 : -1}
    onClick={onSelect}
    className={cn(
      'flex h-8 min-w-0 flex-auto items-center justify-center gap-1.5 rounded-lg px-1 text-[12.5px] transition-colors max-md:h-11 max-md:flex-col max-md:gap-0 max-md:text-[11px] md:[&_svg]:hidden [&_svg]:size-3.5 [&_svg]:shrink-0',
      on ? 'bg-active font-medium text-fg' : 'text-muted hover:bg-hover hover:text-fg',
    )}
  >
    <Icon aria-hidden />
    <span className="flex min-w-0 items-center gap-1">
      <span className="truncate">{label}</span>
      {count > 0 && (
        <span className="rounded-full bg-accent px-1.5 text-[10.5px] leading-4 font-semibold text-accent-fg tabular-nums">
          {count > 99 ? '99+' : count}
        </span>
      )}
    </span>
  </button>
)

/** Next to the document (in its place on a phone): comments, agent, review and history. */
export function RightPanel({ narrow }: { narrow: boolean }) {
  const { closePanel } = useDocumentRoom()
  const { tab, item } = usePanel()
  if (tab === null) return null
  return (
    <aside
      aria-label="Document panel"
      data-document-panel={tab}
      className={cn(
        'flex min-h-0 shrink-0 flex-col bg-bg',
        narrow ? 'w-full' : 'w-[clamp(20rem,27vw,27rem)] border-l border-line',
      )}
    >
      {!narrow && (
        <PanelTabs>
          <IconButton label="Close the panel" size="icon-sm" onClick={closePanel}>
            <X />
          </IconButton>
        </PanelTabs>
      )}
      <div role="tabpanel" aria-label={TABS[tab][0]} className="flex min-h-0 flex-1 flex-col overflow-y-auto">
        <ErrorBoundary key={tab}>
          {tab === 'comments' && <CommentsPanel item={item} />}
          {tab === 'thread' && <ThreadPanel item={item} />}
          {tab === 'review' && <ReviewPanel item={item} />}
          {tab === 'history' && <HistoryPanel item={item} />}
        </ErrorBoundary>
      </div>
    </aside>
  )
}
