import { queryOptions } from '@tanstack/react-query'
import { useCallback, useRef } from 'react'
import type { Checkpoint, KeptFile, OutlastEvent } from '@outlast/sdk'
import { useEvents } from '@outlast/sdk/react'
import { client, queryClient } from '@/lib/queries'

const GATHER_MS = 250
const NEWS = new Set(['checkpoint.created', 'run.completed', 'run.cancelled', 'run.error'])

/** A thread's newest checkpoints. */
export const checkpointsQuery = (threadId: string) =>
  queryOptions({
    queryKey: ['checkpoints', threadId],
    queryFn: ({ signal }) => client.checkpoints(threadId, { limit: 200, signal }),
    staleTime: 60_000,
  })

/** Loads the list again after each checkpoint, and when the last one of a run becomes its answer's checkpoint. */
export function useCheckpointNews(threadId: string): void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEvents(
    useCallback(
      ({ event }: OutlastEvent) => {
        if (!NEWS.has(event)) return
        clearTimeout(timer.current)
        timer.current = setTimeout(() => void queryClient.invalidateQueries(checkpointsQuery(threadId)), GATHER_MS)
      },
      [threadId],
    ),
  )
}

/** The checkpoint that belongs to an answer. Pure. */
export const ofAnswer = (items: Checkpoint[], messageId: string): Checkpoint | null =>
  items.find(({ message_id }) => message_id === messageId) ?? null

export interface ShownFile extends KeptFile {
  /** The last part of the path, and the number of folders above it. */
  name: string
  depth: number
}

/** The files as a tree: each folder before its content, and folders before files. Pure. */
export function asTree(entries: KeptFile[]): ShownFile[] {
  const folders = new Set(entries.filter(({ kind }) => kind === 'directory').map(({ path }) => path))
  const key = ({ path }: KeptFile): string[] => {
    const parts = path.split('/')
    return parts.map((part, at) => (folders.has(parts.slice(0, at + 1).join('/')) ? `0${part}` : `1${part}`))
  }
  return entries
    .map((entry) => ({ entry, order: key(entry) }))
    .sort((a, b) => compare(a.order, b.order))
    .map(({ entry }) => {
      const parts = entry.path.split('/')
      return { ...entry, name: parts.at(-1) ?? '', depth: parts.length - 1 }
    })
}

function compare(a: string[], b: string[]): number {
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const order = (a[at] ?? '').localeCompare(b[at] ?? '')
    if (order !== 0) return order
  }
  return a.length - b.length
}

export interface DiffLine {
  kind: 'same' | 'added' | 'removed' | 'place'
  text: string
  /** Its line number before and after, from 1; null if it does not exist there. */
  before: number | null
  after: number | null
}

const PLACE = /^@@ -(\d+)(?:,\d+)? \+(\d+)/

/** A unified diff line by line, without its headers. Pure. */
export function diffLines(diff: string): DiffLine[] {
  const lines: DiffLine[] = []
  let [before, after] = [1, 1]
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    if (lines.length === 0 && /^(?:--- |\+\+\+ |Index: |=+$)/.test(line)) continue
    const text = line.slice(1)
    if (line.startsWith('@@')) {
      const [, from = '1', to = '1'] = PLACE.exec(line) ?? []
      ;[before, after] = [Number(from), Number(to)]
      lines.push({ kind: 'place', text: line, before: null, after: null })
    } else if (line.startsWith('+')) lines.push({ kind: 'added', text, before: null, after: after++ })
    else if (line.startsWith('-')) lines.push({ kind: 'removed', text, before: before++, after: null })
    else if (!line.startsWith('\\')) lines.push({ kind: 'same', text, before: before++, after: after++ })
  }
  return lines
}

/** The numbers of added and removed lines. Pure. */
export function sums(diff: string): { added: number; removed: number } {
  const lines = diffLines(diff)
  return {
    added: lines.filter(({ kind }) => kind === 'added').length,
    removed: lines.filter(({ kind }) => kind === 'removed').length,
  }
}
