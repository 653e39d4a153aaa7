import { Menu as MenuIcon, PanelLeft } from 'lucide-react'
import { Dialog } from 'radix-ui'
import { createContext, lazy, Suspense, useContext, useEffect, useState, type ReactNode } from 'react'
import { useLocation } from 'wouter'
import { IconButton } from '@/components/button'
import { cn } from '@/lib/cn'
import { useKeyBindings } from '@/lib/key-bindings'
import { useStored } from '@/lib/local-storage'
import { InboxProvider } from '../inbox/inbox-context'
import { InboxDot } from '../inbox/inbox-link'
import { ActiveProjectProvider, useActiveProject } from './active-project'
import { AgentProblem } from './agent-problem'
import { CommandPalette, PALETTE_KEY } from './command-palette'
import { Sidebar } from './sidebar'

/** Everything else works without it, so a failure to load it is not an error. */
const BackgroundNotifications = lazy(() =>
  import('../inbox/background-notifications').catch(() => ({ default: () => null })),
)

const SidebarContext = createContext<{ collapsed: boolean; show: () => void }>({
  collapsed: false,
  show: () => undefined,
})

/** The frame of every signed-in page: sidebar (a drawer on a phone), page, command palette. */
export function Shell({ children }: { children: ReactNode }) {
  return (
    <ActiveProjectProvider>
      <InboxProvider>
        <Suspense>
          <BackgroundNotifications />
        </Suspense>
        <Frame>{children}</Frame>
      </InboxProvider>
    </ActiveProjectProvider>
  )
}

function Frame({ children }: { children: ReactNode }) {
  const [path, navigate] = useLocation()
  const { projectId } = useActiveProject()
  const [drawer, setDrawer] = useState(false)
  const [palette, setPalette] = useState(false)
  const [hidden, setHidden] = useStored('outlast.sidebar')
  const collapsed = hidden === 'hidden'
  const toggle = () => setHidden(collapsed ? '' : 'hidden')
  useEffect(() => setDrawer(false), [path])
  useKeyBindings({
    [`mod+${PALETTE_KEY}`]: () => setPalette((open) => !open),
    'mod+b': toggle,
    n: () => navigate(`/projects/${projectId}`),
    '/': () => focusSearch(() => setDrawer(true)),
  })
  const sidebar = <Sidebar onPalette={() => setPalette(true)} />
  return (
    <SidebarContext value={{ collapsed, show: () => (isPhone() ? setDrawer(true) : toggle()) }}>
      <div className="flex h-full">
        {!collapsed && (
          <aside className="relative hidden w-68 shrink-0 border-r border-line bg-side md:block">
            {sidebar}
            <IconButton
              label="Hide the sidebar"
              keys="⌘B"
              size="icon-sm"
              className="absolute top-3 right-2.5"
              onClick={toggle}
            >
              <PanelLeft />
            </IconButton>
          </aside>
        )}
        <main className="flex min-w-0 flex-1 flex-col">
          <AgentProblem projectId={projectId} />
          {children}
        </main>
      </div>
      <Drawer open={drawer} onClose={() => setDrawer(false)}>
        {sidebar}
      </Drawer>
      <CommandPalette open={palette} onClose={() => setPalette(false)} />
    </SidebarContext>
  )
}

const isPhone = () => matchMedia('(width < 48rem)').matches

function focusSearch(open: () => void): void {
  if (isPhone()) open()
  requestAnimationFrame(() => document.querySelector<HTMLInputElement>('input[data-search]')?.focus())
}

function Drawer({ open, onClose, children }: { open: boolean; onClose: () => void; children: ReactNode }) {
  return (
    <Dialog.Root open={open} onOpenChange={(next) => next || onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-30 bg-black/40 md:hidden" />
        <Dialog.Content
          aria-describedby={undefined}
          onOpenAutoFocus={(event) => event.preventDefault()}
          className="fixed inset-y-0 left-0 z-30 w-[min(20rem,86vw)] bg-side shadow-pop outline-none md:hidden"
        >
          <Dialog.Title className="sr-only">Threads</Dialog.Title>
          {children}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

/** Opens the sidebar; hidden while the sidebar is shown. */
function SidebarButton() {
  const { collapsed, show } = useContext(SidebarContext)
  return (
    <span className={cn('relative', !collapsed && 'md:hidden')}>
      <IconButton label="Show the sidebar" onClick={show}>
        <MenuIcon />
      </IconButton>
      <InboxDot />
    </span>
  )
}

/** The bar on top of a page. */
export function PageHeader({ children }: { children: ReactNode }) {
  return (
    <header className="flex h-13 shrink-0 items-center gap-1.5 border-b border-line px-2.5 md:px-4">
      <SidebarButton />
      {children}
    </header>
  )
}
