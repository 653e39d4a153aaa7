import { Code2, Eye, History, MessageSquare, X, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import type { PageData } from '@outlast/sdk'
import { IconButton } from '@/components/button'
import { ErrorBoundary } from '@/components/error-boundary'
import { Empty } from '@/components/placeholders'
import { cn } from '@/lib/cn'
import { stepTabs } from '@/lib/tabs'
import { useMe } from '@/features/session/session-gate'
import { MessageList } from '@/features/threads/message-list'
import { CodePanel } from './code-panel'
import { HistoryPanel, type useVersions } from './history-panel'
import { PageFigures } from './page-figures'

export type PanelTab = 'activity' | 'history' | 'code'

const TABS: Record<PanelTab, [label: string, icon: LucideIcon]> = {
  activity: ['Activity', MessageSquare],
  history: ['History', History],
  code: ['Code', Code2],
}

export const isTab = (name: string): name is PanelTab => name in TABS

interface PanelTabsProps {
  tab: PanelTab | null
  onTab: (tab: PanelTab | null) => void
  /** On a phone the page itself is a tab. */
  withPage?: boolean
  children?: ReactNode
}

export const PanelTabs = ({ tab, onTab, withPage = false, children }: PanelTabsProps) => (
  <div className="flex shrink-0 items-center gap-1 border-b border-line px-2 py-1.5">
    <div role="tablist" aria-label="Page panel" className="flex flex-1 gap-1" onKeyDown={stepTabs}>
      {withPage && <Tab on={tab === null} label="Page" icon={Eye} onSelect={() => onTab(null)} />}
      {Object.entries(TABS).map(([name, [label, icon]]) => (
        <Tab key={name} on={tab === name} label={label} icon={icon} onSelect={() => onTab(name as PanelTab)} />
      ))}
    </div>
    {children}
  </div>
)

interface TabProps {
  on: boolean
  label: string
  icon: LucideIcon
  onSelect: () => void
}

const Tab = ({ on, label, icon: Icon, onSelect }: TabProps) => (
  <button
    role="tab"
    aria-selected={on}
    tabIndex={on ? 0 : -1}
    onClick={onSelect}
    className={cn(
      'flex h-8 flex-1 items-center justify-center gap-2 rounded-lg text-[13px] transition-colors pointer-coarse:h-10 [&_svg]:size-3.5',
      on ? 'bg-active font-medium text-fg' : 'text-muted hover:bg-hover hover:text-fg',
    )}
  >
    <Icon aria-hidden />
    {label}
  </button>
)

interface PagePanelProps {
  page: PageData
  tab: PanelTab
  narrow: boolean
  mayEdit: boolean
  versions: ReturnType<typeof useVersions>
  now: number
  past: number | null
  onLook: (version: number | null) => void
  onTab: (tab: PanelTab | null) => void
}

/** Next to the page: activity, history and code. */
export function PagePanel({ page, tab, narrow, mayEdit, versions, now, past, onLook, onTab }: PagePanelProps) {
  const { sandboxes } = useMe()
  const look = (version: number | null) => {
    onLook(version)
    if (narrow) onTab(null) // on a phone, the page replaces the panel
  }
  return (
    <aside
      aria-label="Page panel"
      data-page-panel={tab}
      className={cn(
        'flex min-h-0 flex-col bg-bg',
        narrow ? 'w-full' : 'w-[clamp(19rem,30vw,26rem)] border-l border-line',
      )}
    >
      {!narrow && (
        <PanelTabs tab={tab} onTab={onTab}>
          <IconButton label="Close the panel" size="icon-sm" onClick={() => onTab(null)}>
            <X />
          </IconButton>
        </PanelTabs>
      )}
      <div role="tabpanel" aria-label={TABS[tab][0]} className="flex min-h-0 flex-1 flex-col">
        <ErrorBoundary key={tab}>
          {tab === 'activity' && (
            <div className="flex min-h-0 flex-1 flex-col [&_.prose]:text-[14px] [&_.prose]:leading-[1.6]">
              <MessageList
                empty={
                  <Empty icon={<MessageSquare />} title="No activity yet">
                    Requests, actions on the page and answers appear here.
                  </Empty>
                }
              />
              <PageFigures page={page} version={now} />
            </div>
          )}
          {tab === 'history' && <HistoryPanel versions={versions} now={now} past={past} onLook={look} />}
          {tab === 'code' && <CodePanel page={page} mayEdit={mayEdit} offered={sandboxes} />}
        </ErrorBoundary>
      </div>
    </aside>
  )
}
