import { useCallback, useState } from 'react'
import type { Attachment, Me } from '@outlast/sdk'
import { bytes } from '@/lib/format'
import { client } from '@/lib/queries'
import { makeKeyedStore } from '@/lib/keyed-store'

export interface Draft {
  key: string
  name: string
  preview: string
  /** null during the upload. */
  attachment: Attachment | null
  /** The fraction that has been sent, from 0 to 1. */
  sent: number
  error: string | null
}

const KINDS = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
export const ACCEPT = KINDS.join(',')

/** Why a file cannot be attached, or null if it can. Checked before the upload, so that large files are not sent in
 * vain. */
export function refusal(file: File, limits: Me['limits'], already: number): string | null {
  if (!KINDS.includes(file.type)) return 'Only PNG, JPEG, GIF and WebP images can be attached.'
  if (file.size > limits.image_bytes)
    return `The image is ${bytes(file.size)}. The limit is ${bytes(limits.image_bytes)}.`
  if (already >= limits.images_per_message) return `A message can have at most ${limits.images_per_message} images.`
  return null
}

const NONE: Draft[] = []
const shelf = makeKeyedStore(NONE)

/** Images for the next message of a message box: uploaded at once, shown as thumbnails, sent by id. They are kept while
 * the message box is not mounted. */
export function useAttachments(key: string, projectId: string, limits: Me['limits']) {
  const drafts = shelf.use(key)
  const [problem, setProblem] = useState<string | null>(null)
  const add = useCallback(
    (files: File[]) => {
      setProblem(null)
      for (const file of files) {
        const reason = refusal(file, limits, shelf.get(key).length)
        if (reason === null) begin(key, projectId, file)
        else setProblem(reason)
      }
    },
    [key, projectId, limits],
  )
  const remove = (draft: string) => take(key, (one) => one.key === draft)
  const clear = () => {
    take(key, () => true)
    setProblem(null)
  }
  return { drafts, problem, add, remove, clear }
}

function begin(key: string, projectId: string, file: File): void {
  const draft = { key: crypto.randomUUID(), name: file.name, preview: URL.createObjectURL(file) }
  const change = (change: Partial<Draft>) =>
    shelf.change(key, (all) => all.map((one) => (one.key === draft.key ? { ...one, ...change } : one)))
  shelf.change(key, (all) => [...all, { ...draft, attachment: null, sent: 0, error: null }])
  client
    .upload(projectId, file, undefined, (sent) => change({ sent }))
    .then(
      (attachment) => change({ attachment, sent: 1 }),
      (error: Error) => change({ error: error.message }),
    )
}

function take(key: string, isTaken: (draft: Draft) => boolean): void {
  shelf.change(key, (all) => {
    for (const draft of all) if (isTaken(draft)) URL.revokeObjectURL(draft.preview)
    const rest = all.filter((draft) => !isTaken(draft))
    return rest.length === 0 ? NONE : rest
  })
}

export const imagesIn = (data: DataTransfer | null): File[] =>
  [...(data?.files ?? [])].filter(({ type }) => type.startsWith('image/'))
