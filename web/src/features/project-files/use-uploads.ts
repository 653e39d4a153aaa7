import { useRef, useState } from 'react'
import { client } from '@/lib/queries'
import { addFile } from './project-files'

export interface Upload {
  key: number
  name: string
  share: number
  error: Error | null
  again: () => void
}

/** Uploads, a few at a time; failed ones stay until they are retried or dismissed. */
export function useUploads(projectId: string) {
  const [uploads, setUploads] = useState<Upload[]>([])
  const next = useRef(0)
  const line = useRef(Promise.resolve())
  const set = (key: number, change: Partial<Upload>) =>
    setUploads((all) => all.map((one) => (one.key === key ? { ...one, ...change } : one)))
  const dismiss = (key: number) => setUploads((all) => all.filter((one) => one.key !== key))
  const send = async (key: number, file: File) => {
    set(key, { share: 0, error: null })
    try {
      addFile(await client.artifacts.upload(projectId, file, undefined, (share) => set(key, { share })))
      dismiss(key)
    } catch (error) {
      set(key, { error: error as Error })
    }
  }
  const queue = (key: number, file: File) => {
    line.current = line.current.then(() => send(key, file))
  }
  const add = (files: Iterable<File>) => {
    for (const file of files) {
      const key = next.current++
      setUploads((all) => [...all, { key, name: file.name, share: 0, error: null, again: () => queue(key, file) }])
      queue(key, file)
    }
  }
  return { uploads, add, dismiss }
}
