import { useCallback, useEffect, useRef, useState } from 'react'
import type { Attachment, Me } from '@outlast/sdk'
import { bytes } from '@/lib/format'
import { client } from '@/lib/queries'

export interface Draft {
  key: string
  name: string
  preview: string
  /** null while it is being uploaded. */
  attachment: Attachment | null
  /** How much of it has been sent, from 0 to 1. */
  sent: number
  error: string | null
}

const KINDS = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
export const ACCEPT = KINDS.join(',')

/** Why a file cannot be attached; null when it can. Checked here so that nothing large is sent in vain. */
export function refusal(file: File, limits: Me['limits'], already: number): string | null {
  if (!KINDS.includes(file.type)) return 'Only PNG, JPEG, GIF and WebP images can be attached.'
  if (file.size > limits.image_bytes)
    return `The image has ${bytes(file.size)}; at most ${bytes(limits.image_bytes)} are allowed.`
  if (already >= limits.images_per_message) return `A message holds at most ${limits.images_per_message} images.`
  return null
}

/** Images on their way into a message: uploaded at once, shown as thumbnails, sent by id. */
export function useAttachments(projectId: string, limits: Me['limits']) {
  const [drafts, setDrafts] = useState<Draft[]>([])
  const [problem, setProblem] = useState<string | null>(null)
  const held = useRef(drafts)
  useEffect(() => {
    held.current = drafts
  }, [drafts])
  useEffect(() => () => held.current.forEach(({ preview }) => URL.revokeObjectURL(preview)), [])

  const change = (key: string, change: Partial<Draft>) =>
    setDrafts((all) => all.map((draft) => (draft.key === key ? { ...draft, ...change } : draft)))

  const add = useCallback(
    (files: File[]) => {
      setProblem(null)
      let count = held.current.length
      for (const file of files) {
        const reason = refusal(file, limits, count)
        if (reason !== null) {
          setProblem(reason)
          continue
        }
        count += 1
        const key = crypto.randomUUID()
        const preview = URL.createObjectURL(file)
        const draft = { key, name: file.name, preview, attachment: null, sent: 0, error: null }
        setDrafts((all) => [...all, draft])
        client
          .upload(projectId, file, undefined, (sent) => change(key, { sent }))
          .then(
            (attachment) => change(key, { attachment, sent: 1 }),
            (error: Error) => change(key, { error: error.message }),
          )
      }
    },
    [projectId, limits],
  )
  const remove = (key: string) => setDrafts((all) => all.filter((draft) => draft.key !== key))
  const clear = () => {
    setDrafts([])
    setProblem(null)
  }
  return { drafts, problem, add, remove, clear }
}

export const imagesIn = (data: DataTransfer | null): File[] =>
  [...(data?.files ?? [])].filter(({ type }) => type.startsWith('image/'))
