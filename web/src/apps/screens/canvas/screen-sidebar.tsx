import { X } from 'lucide-react'
import { Suspense, type PointerEvent, type ReactNode } from 'react'
import type { ScreenData } from '@outlast/sdk'
import { IconButton } from '@/components/button'
import { ErrorBoundary } from '@/components/error-boundary'
import { SkeletonRows } from '@/components/placeholders'
import { cn } from '@/lib/cn'
import { useStored } from '@/lib/local-storage'
import { stepTabs } from '@/lib/tabs'
import { CanvasContext, type CanvasFacts } from './canvas-context'
import { isTab, TABS, type TabName } from './screen-tabs'

const MIN = 340
const MAX = 760
const FIRST = 420

/** The open tab, remembered by this browser. */
export function useTab(): [TabName, (tab: TabName) => void] {
  const [stored, setStored] = useStored('outlast.screen.tab')
  return [isTab(stored) ? stored : 'chat', setStored]
}

interface SidebarProps {
  screen: ScreenData
  facts: CanvasFacts
  header: ReactNode
  onClose: () => void
}

/** Next to the canvas: chat, edit and code of the open screen. */
export function ScreenSidebar({ screen, facts, header, onClose }: SidebarProps) {
  const [stored, setStored] = useStored('outlast.screen.sidebar')
  const [tab, setTab] = useTab()
  const width = Math.min(MAX, Math.max(MIN, Number(stored) || FIRST))
  return (
    <aside
      aria-label="Screen"
      data-screen-sidebar={screen.id}
      className="relative flex h-full shrink-0 flex-col border-l border-line bg-bg"
      style={{ width: `min(${width}px, 60vw)` }}
    >
      <CanvasContext value={facts}>
        <Handle width={width} onWidth={(next) => setStored(String(Math.round(next)))} />
        <header className="flex h-13 shrink-0 items-center gap-2 border-b border-line pr-2 pl-4">
          {header}
          <IconButton label="Close the sidebar" size="icon-sm" onClick={onClose}>
            <X />
          </IconButton>
        </header>
        <TabList tab={tab} onTab={setTab} />
        <TabView screen={screen} tab={tab} />
      </CanvasContext>
    </aside>
  )
}

export function TabList({
  tab,
  onTab,
  children,
}: {
  tab: TabName | null
  onTab: (tab: TabName) => void
  children?: ReactNode
}) {
  return (
    <div
      role="tablist"
      aria-label="Work on the screen"
      className="flex shrink-0 gap-1 border-b border-line px-2 py-1.5"
      onKeyDown={stepTabs}
    >
      {children}
      {Object.entries(TABS).map(([name, { label, icon: Icon }]) => (
        <TabButton key={name} on={tab === name} onSelect={() => onTab(name as TabName)}>
          <Icon aria-hidden />
          {label}
        </TabButton>
      ))}
    </div>
  )
}

export const TabButton = ({ on, onSelect, children }: { on: boolean; onSelect: () => void; children: ReactNode }) => (
  <button
    role="tab"
    aria-selected={on}
    tabIndex={on ? 0 : -1}
    onClick={onSelect}
    className={cn(
      'flex h-8 pointer-coarse:h-10 flex-1 items-center justify-center gap-2 rounded-lg text-[13px] transition-colors [&_svg]:size-3.5',
      on ? 'bg-active font-medium text-fg' : 'text-muted hover:bg-hover hover:text-fg',
    )}
  >
    {children}
  </button>
)

export function TabView({ screen, tab }: { screen: ScreenData; tab: TabName }) {
  const { view: View, label } = TABS[tab]
  return (
    <div role="tabpanel" aria-label={label} className="flex min-h-0 flex-1 flex-col">
      <ErrorBoundary key={`${screen.id} ${tab}`}>
        <Suspense
          fallback={
            <div className="p-4">
              <SkeletonRows rows={5} className="h-10" />
            </div>
          }
        >
          <View key={screen.id} screen={screen} />
        </Suspense>
      </ErrorBoundary>
    </div>
  )
}

/** Resizes the sidebar by dragging or with arrow keys. */
function Handle({ width, onWidth }: { width: number; onWidth: (width: number) => void }) {
  const drag = (down: PointerEvent<HTMLDivElement>) => {
    const handle = down.currentTarget
    const from = down.clientX
    handle.setPointerCapture(down.pointerId)
    document.body.dataset['resizing'] = ''
    const move = (event: globalThis.PointerEvent) => onWidth(clamp(width + from - event.clientX))
    const done = () => {
      delete document.body.dataset['resizing']
      handle.removeEventListener('pointermove', move)
      handle.removeEventListener('pointerup', done)
    }
    handle.addEventListener('pointermove', move)
    handle.addEventListener('pointerup', done)
  }
  return (
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the sidebar"
      aria-valuenow={width}
      aria-valuemin={MIN}
      aria-valuemax={MAX}
      tabIndex={0}
      onPointerDown={drag}
      onKeyDown={(event) => {
        if (event.key === 'ArrowLeft') onWidth(clamp(width + 24))
        if (event.key === 'ArrowRight') onWidth(clamp(width - 24))
      }}
      className="absolute inset-y-0 -left-1 z-10 w-2 cursor-col-resize touch-none after:absolute after:inset-y-0 after:left-1 after:w-px after:transition-colors hover:after:bg-accent focus-visible:outline-none focus-visible:after:bg-accent active:after:bg-accent"
    />
  )
}

const clamp = (width: number): number => Math.min(MAX, Math.max(MIN, width))
