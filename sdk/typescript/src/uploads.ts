/** Uploads files in pieces: a lost connection or a restart of the server costs at most the piece that was on its way. */
import type { Attachment, Upload } from './api.gen.ts'
import type { OutlastClient } from './client.ts'
import { OutlastError, TryLater } from './errors.ts'

const PIECE_BYTES = 2_000_000
/** Pauses after failures in a row; then the upload fails, and can be continued. */
const PAUSES_MS = [250, 1000, 2000, 4000, 8000]

/** An upload that can be continued: pass the same object again. */
export interface UploadSession {
  id?: string
}

export interface UploadOptions {
  signal?: AbortSignal | undefined
  /** Gets the share that is stored, from 0 to 1. */
  onProgress?: ((share: number) => void) | undefined
  session?: UploadSession | undefined
  pausesMs?: readonly number[]
}

type Client = Pick<OutlastClient, 'json'>

/** Sends the file and returns its attachment. Rejects with the server's refusal, or once it was not reached several times
 * in a row. */
export async function uploadFile(
  client: Client,
  projectId: string,
  file: File,
  { signal, onProgress, session = {}, pausesMs = PAUSES_MS }: UploadOptions = {},
): Promise<Attachment> {
  const patient = <T>(work: () => Promise<T>) => repeated(work, pausesMs, signal)
  const at = (path = '') => `/v1/uploads/${session.id}${path}`
  let offset = 0
  if (session.id === undefined) {
    const body = { name: file.name, size_bytes: file.size, project_id: projectId }
    session.id = (await patient(() => client.json<Upload>('POST', '/v1/uploads', { body, signal }))).id
  } else {
    offset = await offsetOf(client, session.id, file.size, signal)
  }
  while (offset < file.size) {
    const start = offset
    const piece = file.slice(start, start + PIECE_BYTES)
    offset = await patient(() =>
      client
        .json<Upload>('PATCH', at(), { query: { offset: start }, bytes: piece, signal })
        .then((upload) => upload.offset, rightOffset),
    )
    onProgress?.(offset / file.size)
  }
  try {
    return await patient(() => client.json<Attachment>('POST', at('/complete'), { signal }))
  } catch (error) {
    if (isMissing(error)) delete session.id // it was removed after a day: the next try begins anew
    throw error
  }
}

const isMissing = (error: unknown): boolean => error instanceof OutlastError && error.code === 'not_found'

/** The number of bytes that the server has; all of them if the upload was completed and its reply lost. */
async function offsetOf(client: Client, id: string, size: number, signal: AbortSignal | undefined): Promise<number> {
  try {
    return (await client.json<Upload>('GET', `/v1/uploads/${id}`, { signal })).offset
  } catch (error) {
    if (isMissing(error)) return size
    throw error
  }
}

/** A piece whose reply was lost is refused with the offset to continue at. */
function rightOffset(error: unknown): number {
  const offset = error instanceof OutlastError && error.code === 'conflict' ? error.fields['offset'] : undefined
  if (typeof offset === 'number') return offset
  throw error
}

async function repeated<T>(
  work: () => Promise<T>,
  pausesMs: readonly number[],
  signal: AbortSignal | undefined,
): Promise<T> {
  for (const pause of pausesMs) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof TryLater) || signal?.aborted === true) throw error
      const longer = error.retryAfterS === null ? 0 : Math.min(error.retryAfterS * 1000, 10_000)
      await new Promise((resolve) => setTimeout(resolve, Math.max(pause, longer)))
    }
  }
  return work()
}
