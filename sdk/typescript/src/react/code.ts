import type { OutlastEvent, ScreenFiles } from '../api.gen.ts'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { fileTree, foldersOf, type TreeNode } from '../code-tree.ts'
import { useClient } from './context.tsx'
import { useEvents } from './hooks.ts'

export interface CodeExplorerOptions {
  screenId: string
  /** The screen's workspace: if set, the list is reloaded whenever its files change. */
  workspaceId?: string
  /** Shown until the first list is loaded. */
  cachedFiles?: readonly { path: string; size: number }[]
  enabled?: boolean
}

export interface CodeExplorer {
  fileTree: TreeNode[]
  expandedFolders: ReadonlySet<string>
  selectedPath: string | null
  /** null if nothing is selected, or while it is loading. */
  fileContent: Blob | null
  /** The source and time of the read; null before the first one. */
  source: Omit<ScreenFiles, 'items'> | null
  /** Files that changed since this page was opened. */
  changedPaths: ReadonlySet<string>
  isLoading: boolean
  error: Error | null
  toggleFolder: (path: string) => void
  /** Selects a file and opens the folders around it; null closes it. */
  selectFile: (path: string | null) => void
  refresh: () => void
}

const GATHER_MS = 250
const NO_FILES: readonly { path: string; size: number }[] = []

/** A screen's files: the tree, its open folders and the selected file; kept up to date with the agent's changes. */
export function useCodeExplorer({
  screenId,
  workspaceId,
  cachedFiles = NO_FILES,
  enabled = true,
}: CodeExplorerOptions): CodeExplorer {
  const client = useClient()
  const [files, setFiles] = useState<ScreenFiles | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [expandedFolders, setExpanded] = useState<ReadonlySet<string>>(new Set(['app', 'components']))
  const [selectedPath, setSelected] = useState<string | null>(null)
  const [fileContent, setContent] = useState<Blob | null>(null)
  const [changedPaths, setChanged] = useState<ReadonlySet<string>>(new Set())
  const [turn, setTurn] = useState(0)
  const refresh = useCallback(() => setTurn((turn) => turn + 1), [])

  useEffect(() => {
    if (!enabled) return
    const life = new AbortController()
    client.screens.files(screenId, life.signal).then(
      (loaded) => (setFiles(loaded), setError(null)),
      (reason: Error) => life.signal.aborted || setError(reason),
    )
    return () => life.abort()
  }, [client, screenId, enabled, turn])

  useEffect(() => {
    if (!enabled || selectedPath === null) return
    const life = new AbortController()
    client.screens.file(screenId, selectedPath, life.signal).then(
      (loaded) => (setContent(loaded), setError(null)),
      (reason: Error) => life.signal.aborted || setError(reason),
    )
    return () => life.abort()
  }, [client, screenId, enabled, selectedPath, turn])

  useFileNews(workspaceId, (paths) => {
    setChanged((known) => new Set([...known, ...paths]))
    refresh()
  })

  const toggleFolder = useCallback((path: string) => setExpanded((open) => toggled(open, path)), [])
  const selectFile = useCallback((path: string | null) => {
    setSelected(path)
    setContent(null)
    if (path !== null) setExpanded((open) => new Set([...open, ...foldersOf(path)]))
  }, [])
  const tree = useMemo(() => fileTree(files?.items ?? cachedFiles), [files, cachedFiles])
  return {
    fileTree: tree,
    expandedFolders,
    selectedPath,
    fileContent,
    source: files,
    changedPaths,
    isLoading: enabled && files === null && error === null,
    error,
    toggleFolder,
    selectFile,
    refresh,
  }
}

const toggled = (open: ReadonlySet<string>, path: string): ReadonlySet<string> =>
  open.has(path) ? new Set([...open].filter((one) => one !== path)) : new Set([...open, path])

/** Calls back, a moment after the last of a burst, with the files of a workspace that changed. */
export function useFileNews(workspaceId: string | undefined, onChange: (paths: string[]) => void): void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const gathered = useRef(new Set<string>())
  const listener = useRef(onChange)
  useEffect(() => {
    listener.current = onChange
  })
  useEffect(() => () => clearTimeout(timer.current), [])
  useEvents(
    useCallback(
      (event: OutlastEvent) => {
        const paths = filesIn(event, workspaceId)
        if (paths === null) return
        for (const path of paths) gathered.current.add(path)
        clearTimeout(timer.current)
        timer.current = setTimeout(() => {
          const all = [...gathered.current]
          gathered.current.clear()
          listener.current(all)
        }, GATHER_MS)
      },
      [workspaceId],
    ),
  )
}

/** The changed files of an event; empty if it does not name them, null if it is not about files. Pure. */
export function filesIn({ event, data }: OutlastEvent, workspaceId: string | undefined): string[] | null {
  if (event === 'files.changed' && data.workspace_id === workspaceId) return data.files.map(({ path }) => path)
  if (event === 'checkpoint.created' && data.checkpoint.workspace_id === workspaceId) return []
  if (event === 'sandbox.state' && data.workspace_id === workspaceId && SETTLED.has(data.state)) return []
  return null
}

/** States in which the files have a new source. */
const SETTLED = new Set(['ready', 'paused', 'lost', 'killed'])
