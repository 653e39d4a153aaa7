import { hashKey, useQuery, type QueryKey } from '@tanstack/react-query'
import { createContext, useCallback, useContext, useEffect, useRef, useState, type ReactNode } from 'react'
import { useLocation } from 'wouter'
import type { Member, OutlastEvent, Project } from '@outlast/sdk'
import { useEvents, useProject } from '@outlast/sdk/react'
import { complain } from '@/components/toast'
import { isSignedOut, meQuery, projectsQuery, queryClient } from '@/lib/queries'
import { forgetThread, patchLock, patchThreads } from '../threads/threads'
import { useMe } from '../session/session-gate'

interface ActiveProject {
  projectId: string
  /** null until loaded. */
  project: Project | null
  /** Members who have it open now, including this user. */
  watching: Member[]
  choose: (projectId: string) => void
  connection: ReturnType<typeof useProject>['connection']
}

/** This browser remembers the last project under this key; each tab keeps its own. */
const LAST = 'outlast.project'

const Context = createContext<ActiveProject | null>(null)

export function useActiveProject(): ActiveProject {
  const active = useContext(Context)
  if (active === null) throw new Error('useActiveProject is called outside of the shell')
  return active
}

/** The project whose threads the sidebar shows, updated live. */
export function ActiveProjectProvider({ children }: { children: ReactNode }) {
  const { default_project_id: first } = useMe()
  const home = first ?? ''
  const [remembered] = useState(() => localStorage.getItem(LAST))
  const [projectId, setProjectId] = useState(remembered ?? home)
  const [location, navigate] = useLocation()
  const choose = useCallback((id: string) => {
    setProjectId(id)
    localStorage.setItem(LAST, id)
  }, [])
  const { project, connection, watching } = useProject(projectId)
  useEvents(useCallback((event: OutlastEvent) => applyEvent(event, projectId), [projectId]))
  useEffect(() => {
    if (connection.status !== 'failed') return
    if (isSignedOut(connection.error)) void queryClient.invalidateQueries(meQuery)
    if (isSignedOut(connection.error) || projectId === home) return
    // The remembered project may belong to another server or be deleted: no reason to show an error.
    if (connection.error !== null && projectId !== remembered) complain(connection.error)
    choose(home)
    if (location.startsWith(`/projects/${projectId}`)) navigate(`/projects/${home}`, { replace: true })
  }, [connection, projectId, home, choose, remembered, location, navigate])
  return <Context value={{ projectId, project, watching, choose, connection }}>{children}</Context>
}

/** Loads a query again once the project's stream is open: data that was loaded before may lack changes in between. */
export const useFreshOnceLive = (queryKey: QueryKey): void =>
  useFreshOnce(useActiveProject().connection.status === 'live', queryKey)

/** The same for data that another stream keeps up to date; `live`: it is open. */
export function useFreshOnce(live: boolean, queryKey: QueryKey): void {
  const shown = useRef<string | null>(null)
  const hash = hashKey(queryKey)
  useEffect(() => {
    // What is loaded for the first time while the stream is open lacks nothing.
    const cancelRefetch = shown.current === hash
    shown.current = hash
    if (live) void queryClient.invalidateQueries({ queryKey: JSON.parse(hash) as QueryKey }, { cancelRefetch })
  }, [live, hash])
}

export function useProjects(): Project[] {
  return useQuery(projectsQuery).data?.items ?? []
}

/** Updates loaded data from the streams' events. */
function applyEvent(event: OutlastEvent, projectId: string): void {
  switch (event.event) {
    case 'thread.updated':
      return patchThreads(event.data.thread)
    case 'thread.deleted':
      return forgetThread(event.data.thread_id)
    case 'lock.acquired':
    case 'lock.released':
    case 'lock.requested':
    case 'lock.handed_over':
    case 'lock.taken_over':
      return patchLock(event.data.thread_id, event.data.lock)
    case 'member.added':
    case 'member.changed':
    case 'member.removed':
      void queryClient.invalidateQueries({ queryKey: ['members', projectId] })
      return
    case 'project.updated':
      void queryClient.invalidateQueries({ queryKey: ['projects'] })
  }
}
