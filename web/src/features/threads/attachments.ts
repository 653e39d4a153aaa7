import { useCallback, useState } from 'react'
import type { Attachment, Me, UploadSession } from '@outlast/sdk'
import { bytes } from '@/lib/format'
import { client } from '@/lib/queries'
import { makeKeyedStore } from '@/lib/keyed-store'

export interface Draft {
  key: string
  file: File
  /** The URL of an image; null for other files. */
  preview: string | null
  /** null during the upload. */
  attachment: Attachment | null
  /** The fraction that has been stored, from 0 to 1. */
  sent: number
  error: string | null
  session: UploadSession
}

const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

export const ACCEPT = IMAGES.join(',')

type Limits = Pick<Me['limits'], 'attachment_bytes' | 'image_bytes' | 'images_per_message' | 'files_per_message'>

const isImage = (file: File, limits: Limits): boolean => IMAGES.includes(file.type) && file.size <= limits.image_bytes

/** Why a file cannot be attached, or null if it can. Checked before the upload, so that large files are not sent in
 * vain. */
export function refusal(file: File, limits: Limits, already: readonly File[]): string | null {
  if (file.size === 0) return `“${file.name}” is empty, or a folder.`
  if (file.size > limits.attachment_bytes)
    return `“${file.name}” is ${bytes(file.size)}. The limit is ${bytes(limits.attachment_bytes)}.`
  const image = isImage(file, limits)
  const most = image ? limits.images_per_message : limits.files_per_message
  if (already.filter((one) => isImage(one, limits) === image).length >= most)
    return `A message can have at most ${most} ${image ? 'images' : 'other files'}.`
  return null
}

const NONE: Draft[] = []
const shelf = makeKeyedStore(NONE)

/** Files for the next message of a message box: uploaded at once, shown as pictures or cards, sent by id. They are kept
 * while the message box is not mounted. */
export function useAttachments(key: string, projectId: string, limits: Me['limits']) {
  const drafts = shelf.use(key)
  const [problem, setProblem] = useState<string | null>(null)
  const add = useCallback(
    (files: File[]) => {
      setProblem(null)
      for (const file of files) {
        const already = shelf.get(key).map((draft) => draft.file)
        const reason = refusal(file, limits, already)
        if (reason === null) begin(key, projectId, file, isImage(file, limits))
        else setProblem(reason)
      }
    },
    [key, projectId, limits],
  )
  const remove = (draft: string) => take(key, (one) => one.key === draft)
  const retry = (draft: string) => {
    const failed = shelf.get(key).find((one) => one.key === draft)
    if (failed !== undefined) send(key, projectId, failed)
  }
  const clear = () => {
    take(key, () => true)
    setProblem(null)
  }
  return { drafts, problem, add, remove, retry, clear }
}

function begin(key: string, projectId: string, file: File, image: boolean): void {
  const preview = image ? URL.createObjectURL(file) : null
  const draft = { key: crypto.randomUUID(), file, preview, attachment: null, sent: 0, error: null, session: {} }
  shelf.change(key, (all) => [...all, draft])
  send(key, projectId, draft)
}

/** Sends the file, from where an earlier try broke off. */
function send(key: string, projectId: string, { key: draft, file, session }: Draft): void {
  const change = (change: Partial<Draft>) =>
    shelf.change(key, (all) => all.map((one) => (one.key === draft ? { ...one, ...change } : one)))
  change({ error: null })
  client.upload(projectId, file, { session, onProgress: (sent) => change({ sent }) }).then(
    (attachment) => change({ attachment, sent: 1 }),
    (error: Error) => change({ error: error.message }),
  )
}

function take(key: string, isTaken: (draft: Draft) => boolean): void {
  shelf.change(key, (all) => {
    for (const { preview } of all.filter(isTaken)) if (preview !== null) URL.revokeObjectURL(preview)
    const rest = all.filter((draft) => !isTaken(draft))
    return rest.length === 0 ? NONE : rest
  })
}
