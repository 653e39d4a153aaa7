import { useQuery } from '@tanstack/react-query'
import { Activity, Box, Inbox, MessageSquare, Moon, Search, ShieldCheck, SquarePen, Sun } from 'lucide-react'
import { Dialog } from 'radix-ui'
import { useDeferredValue, useState, type KeyboardEvent, type ReactNode } from 'react'
import { useLocation } from 'wouter'
import { StatusDot } from '@/components/status-dot'
import { useApps } from '@/lib/apps'
import { cn } from '@/lib/cn'
import { shownTitle } from '@/lib/format'
import { client } from '@/lib/queries'
import { setTheme } from '@/lib/theme'
import { useMe } from '../session/session-gate'
import { useActiveProject, useProjects } from './active-project'
import { listPages } from './list-pages'

interface Command {
  key: string
  icon: ReactNode
  label: string
  note?: string | undefined
  run: () => void
}

/** With Ctrl or ⌘. */
export const PALETTE_KEY = 'k'

export function CommandPalette({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog.Root open={open} onOpenChange={(next) => next || onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed inset-x-3 top-[12vh] z-40 mx-auto max-w-xl overflow-hidden rounded-2xl border border-line bg-raised shadow-pop outline-none animate-in"
        >
          <Dialog.Title className="sr-only">Commands</Dialog.Title>
          <Palette onClose={onClose} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function Palette({ onClose }: { onClose: () => void }) {
  const [q, setQ] = useState('')
  const [at, setAt] = useState(0)
  const commands = useCommands(q)
  const choose = (command: Command | undefined) => {
    if (command === undefined) return
    onClose()
    command.run()
  }
  const move = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setAt(Math.min(at + 1, commands.length - 1))
    else if (event.key === 'ArrowUp') setAt(Math.max(at - 1, 0))
    else if (event.key === 'Enter') choose(commands[at])
    else return
    event.preventDefault()
  }
  return (
    <>
      <label className="flex items-center gap-2.5 border-b border-line px-4">
        <Search className="size-4 text-faint" aria-hidden />
        <input
          autoFocus
          role="combobox"
          aria-expanded
          aria-controls="palette"
          aria-label="Search threads and commands"
          placeholder="Search threads, or type a command"
          className="h-12 flex-1 bg-transparent text-[15px] outline-none"
          value={q}
          onChange={(event) => (setQ(event.target.value), setAt(0))}
          onKeyDown={move}
        />
      </label>
      <ul id="palette" role="listbox" className="max-h-[50vh] overflow-y-auto p-1.5">
        {commands.map((command, index) => (
          <li
            key={command.key}
            role="option"
            aria-selected={index === at}
            ref={(row) => (index === at ? row?.scrollIntoView({ block: 'nearest' }) : undefined)}
            className={cn(
              'flex items-center gap-3 rounded-lg px-2.5 py-2 [&_svg]:size-4 [&_svg]:text-faint',
              index === at && 'bg-active',
            )}
            onMouseMove={() => setAt(index)}
            onClick={() => choose(command)}
          >
            <span className="grid w-4 place-items-center">{command.icon}</span>
            <span className="min-w-0 flex-1 truncate">{command.label}</span>
            {command.note !== undefined && <span className="text-xs text-faint">{command.note}</span>}
          </li>
        ))}
        {commands.length === 0 && <li className="px-3 py-6 text-center text-muted">Nothing matches “{q}”</li>}
      </ul>
    </>
  )
}

function useCommands(q: string): Command[] {
  const [, navigate] = useLocation()
  const { projectId, choose } = useActiveProject()
  const apps = useApps()
  const me = useMe()
  const projects = useProjects()
  const wanted = useDeferredValue(q.trim())
  const threads = useQuery({
    queryKey: ['palette', projectId, wanted],
    queryFn: ({ signal }) => client.threads(projectId, { q: wanted, limit: 8, signal }),
    placeholderData: (before) => before,
  })
  const fixed: Command[] = [
    { key: 'new', icon: <SquarePen />, label: 'New thread', run: () => navigate(`/projects/${projectId}`) },
    { key: 'inbox', icon: <Inbox />, label: 'Inbox', run: () => navigate('/inbox') },
    ...listPages(apps).map(({ label, icon: Icon, path }) => ({
      key: path,
      icon: <Icon />,
      label,
      run: () => navigate(`/projects/${projectId}/${path}`),
    })),
    { key: 'runs', icon: <Activity />, label: 'Runs', run: () => navigate('/runs') },
    { key: 'sandboxes', icon: <Box />, label: 'Sandboxes', run: () => navigate('/sandboxes') },
    ...(me.user.is_admin
      ? [
          {
            key: 'administration',
            icon: <ShieldCheck />,
            label: 'Administration',
            run: () => navigate('/administration'),
          },
        ]
      : []),
    { key: 'dark', icon: <Moon />, label: 'Dark theme', run: () => setTheme('dark') },
    { key: 'light', icon: <Sun />, label: 'Light theme', run: () => setTheme('light') },
    ...projects
      .filter(({ id }) => id !== projectId)
      .map((project) => ({
        key: project.id,
        icon: <span className="size-2 rounded-sm bg-faint" />,
        label: `Go to ${project.name}`,
        note: 'project',
        run: () => (choose(project.id), navigate(`/projects/${project.id}`)),
      })),
  ]
  const threadCommands = (threads.data?.items ?? []).map((thread): Command => ({
    key: thread.id,
    icon:
      thread.run_status === 'idle' || thread.run_status === 'complete' ? (
        <MessageSquare />
      ) : (
        <StatusDot status={thread.run_status} />
      ),
    label: shownTitle(thread.title),
    note: thread.status === 'archived' ? 'archived' : undefined,
    run: () => navigate(`/threads/${thread.id}`),
  }))
  const matching = fixed.filter(({ label }) => label.toLowerCase().includes(wanted.toLowerCase()))
  return wanted === ''
    ? [...matching.slice(0, 3), ...threadCommands, ...matching.slice(3)]
    : [...threadCommands, ...matching]
}
