import { Bot, ChevronDown, KeyRound, Pencil, Plus, Users, Webhook } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { useLocation } from 'wouter'
import { Mark } from '@/components/brand'
import { Menu, MenuItem, MenuLabel, MenuLine } from '@/components/menu'
import { Skeleton } from '@/components/placeholders'
import { useActiveProject, useProjects } from '../shell/active-project'
import { MembersDialog } from './members-dialog'
import { ProjectDialog } from './project-dialog'

const AgentsDialog = lazy(() => import('./agents-dialog').then(({ AgentsDialog: dialog }) => ({ default: dialog })))

export function ProjectSwitcher() {
  const { projectId, project, choose } = useActiveProject()
  const projects = useProjects()
  const [, navigate] = useLocation()
  const [dialog, setDialog] = useState<'new' | 'rename' | 'members' | 'agents' | null>(null)
  const close = () => setDialog(null)
  return (
    <>
      <Menu
        className="w-64"
        trigger={
          <button className="flex h-9 w-full min-w-0 items-center gap-2.5 rounded-lg px-1.5 hover:bg-hover">
            <Mark className="size-6" />
            {project === null ? (
              <Skeleton className="h-4 w-28" />
            ) : (
              <span className="truncate font-semibold">{project.name}</span>
            )}
            <ChevronDown className="size-3.5 shrink-0 text-faint" />
          </button>
        }
      >
        <MenuLabel>Projects</MenuLabel>
        {projects.map(({ id, name }) => (
          <MenuItem
            key={id}
            checked={id === projectId}
            onSelect={() => {
              choose(id)
              navigate(`/projects/${id}`)
            }}
          >
            <span className="truncate">{name}</span>
          </MenuItem>
        ))}
        <MenuLine />
        <MenuItem onSelect={() => setDialog('members')}>
          <Users />
          Members and invitations
        </MenuItem>
        <MenuItem onSelect={() => setDialog('agents')}>
          <Bot />
          Agents and instructions
        </MenuItem>
        {project !== null && project.role !== 'viewer' && (
          <MenuItem onSelect={() => navigate(`/projects/${project.id}/connections`)}>
            <KeyRound />
            Connections
          </MenuItem>
        )}
        {project !== null && project.role === 'owner' && (
          <>
            <MenuItem onSelect={() => navigate(`/projects/${project.id}/webhooks`)}>
              <Webhook />
              Webhooks
            </MenuItem>
            <MenuItem onSelect={() => setDialog('rename')}>
              <Pencil />
              Rename project
            </MenuItem>
          </>
        )}
        <MenuItem onSelect={() => setDialog('new')}>
          <Plus />
          New project
        </MenuItem>
      </Menu>
      <ProjectDialog mode="new" open={dialog === 'new'} onClose={close} />
      {project !== null && (
        <>
          <ProjectDialog mode="rename" project={project} open={dialog === 'rename'} onClose={close} />
          {dialog === 'agents' && (
            <Suspense>
              <AgentsDialog project={project} onClose={close} />
            </Suspense>
          )}
          <MembersDialog project={project} open={dialog === 'members'} onClose={close} />
        </>
      )}
    </>
  )
}
