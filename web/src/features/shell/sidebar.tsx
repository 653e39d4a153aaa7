import { Activity, Box, Search, SquarePen } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { Kbd } from '@/components/kbd'
import { useApps, type ListPage } from '@/lib/apps'
import { cn } from '@/lib/cn'
import { MOD } from '@/lib/key-bindings'
import { InboxLink } from '../inbox/inbox-link'
import { ProjectSwitcher } from '../projects/project-switcher'
import { ThreadList } from '../threads/thread-list'
import { useActiveProject } from './active-project'
import { PALETTE_KEY } from './command-palette'
import { listPages } from './list-pages'
import { UserMenu } from './user-menu'

const ITEM =
  'flex h-8 pointer-coarse:h-10 w-full items-center gap-2.5 rounded-lg px-2 text-muted hover:bg-hover hover:text-fg [&_svg]:size-4'

/** A link to the page that is already open moves the focus to its message box; a page that opens does so itself. */
function toComposer(): void {
  document.querySelector<HTMLElement>('[data-for-writing] [data-composer]')?.focus()
}

export function Sidebar({ onPalette }: { onPalette: () => void }) {
  const { projectId } = useActiveProject()
  const apps = useApps()
  const [path] = useLocation()
  const [q, setQ] = useState('')
  const [archived, setArchived] = useState(false)
  return (
    <div className="flex h-full flex-col">
      <div className="px-2.5 pt-2.5 pr-11">
        <ProjectSwitcher />
      </div>
      <nav aria-label="Main" className="mt-2 space-y-0.5 px-2.5">
        <Link
          data-nav-link
          href={`/projects/${projectId}`}
          onClick={toComposer}
          className={cn(ITEM, isStart(path) && 'bg-active text-fg')}
        >
          <SquarePen />
          <span className="flex-1">New thread</span>
          <Kbd>N</Kbd>
        </Link>
        <InboxLink className={ITEM} />
        {listPages(apps).map((list) => (
          <ListLink key={list.path} list={list} />
        ))}
        <Link href="/runs" className={cn(ITEM, path.startsWith('/runs') && 'bg-active text-fg')}>
          <Activity />
          Runs
        </Link>
        <Link href="/sandboxes" className={cn(ITEM, path.startsWith('/sandboxes') && 'bg-active text-fg')}>
          <Box />
          Sandboxes
        </Link>
        <button className={ITEM} onClick={onPalette}>
          <Search />
          <span className="flex-1 text-left">Commands</span>
          <Kbd>
            {MOD} {PALETTE_KEY.toUpperCase()}
          </Kbd>
        </button>
      </nav>
      <div className="mt-4 flex items-center gap-1.5 px-2.5">
        <SearchBox value={q} onChange={setQ} />
      </div>
      <ThreadList projectId={projectId} q={q} archived={archived} onArchived={setArchived} />
      <UserMenu />
    </div>
  )
}

const isStart = (path: string) => /^\/projects\/[^/]+\/?$/.test(path)

function ListLink({ list: { label, icon: Icon, path, items, hasComposer } }: { list: ListPage }) {
  const { projectId } = useActiveProject()
  const [location] = useLocation()
  const isOpen =
    location.startsWith(`/projects/${projectId}/${path}`) || (items !== undefined && location.startsWith(items))
  return (
    <Link
      href={`/projects/${projectId}/${path}`}
      {...(hasComposer === true && { 'data-nav-link': true, onClick: toComposer })}
      className={cn(ITEM, isOpen && 'bg-active text-fg')}
    >
      <Icon />
      {label}
    </Link>
  )
}

function SearchBox({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <label className="relative flex-1">
      <Search className="absolute top-1/2 left-2.5 size-3.5 -translate-y-1/2 text-faint" aria-hidden />
      <input
        data-search
        type="search"
        aria-label="Search threads and messages"
        placeholder="Search threads"
        className="h-8 w-full rounded-lg border border-line bg-bg pr-7 pl-8 outline-none focus:border-accent [&::-webkit-search-cancel-button]:hidden"
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          onChange('')
          event.currentTarget.blur()
        }}
      />
      {value === '' && <Kbd className="absolute top-1/2 right-2 -translate-y-1/2">/</Kbd>}
    </label>
  )
}
