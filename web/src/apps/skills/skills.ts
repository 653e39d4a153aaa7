/** The skills of a project. */
import { queryOptions } from '@tanstack/react-query'
import type { FileAt } from '@outlast/sdk'
import { client, queryClient } from '@/lib/queries'

export const skillsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['skills', projectId],
    queryFn: ({ signal }) => client.skills.list(projectId, signal),
  })

export const skillQuery = (projectId: string, name: string) =>
  queryOptions({
    queryKey: ['skill', projectId, name],
    queryFn: ({ signal }) => client.skills.get(projectId, name, signal),
  })

export async function reload(projectId: string): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: ['skills', projectId] }),
    queryClient.invalidateQueries({ queryKey: ['skill', projectId] }),
  ])
}

const LEFT_OUT = /(^|\/)(\.git|__pycache__|__MACOSX|\.DS_Store|Thumbs\.db)(\/|$)/
/** More files than a skill may have: the server says so, without the whole of a folder that was chosen by mistake. */
const MOST_FILES = 1_000

/** A folder that a person chose. */
export const filesOfFolder = (files: Iterable<File>): FileAt[] =>
  [...files]
    .map((file) => ({ path: file.webkitRelativePath === '' ? file.name : file.webkitRelativePath, file }))
    .filter(({ path }) => !LEFT_OUT.test(path))
    .slice(0, MOST_FILES)

/** What a person dropped: each folder, zip or SKILL.md is a skill. Call it before the event ends. */
export function skillsDropped(items: Iterable<DataTransferItem>): Promise<FileAt[][]> {
  const entries = [...items].flatMap((item) => item.webkitGetAsEntry() ?? [])
  return Promise.all(
    entries.map(async (entry) => {
      const files: FileAt[] = []
      await collect(entry, files)
      return files
    }),
  )
}

async function collect(entry: FileSystemEntry, found: FileAt[]): Promise<void> {
  const path = entry.fullPath.replace(/^\//, '')
  if (LEFT_OUT.test(path) || found.length >= MOST_FILES) return
  if (entry.isFile) {
    const file = await new Promise<File>((done, fail) => (entry as FileSystemFileEntry).file(done, fail))
    found.push({ path, file })
    return
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  // A reader gives a part of a large folder at a time, and nothing at its end.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail))
    if (some.length === 0) return
    for (const one of some) await collect(one, found)
  }
}
