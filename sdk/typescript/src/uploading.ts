/** Uploads with progress: browsers report it only for an `XMLHttpRequest`. */
import { unreachable } from './errors.ts'

export interface Upload {
  url: string
  form: FormData
  headers: Record<string, string>
  signal?: AbortSignal | undefined
  /** The share sent, from 0 to 1. */
  onProgress: (share: number) => void
}

export const tellsProgress = (): boolean => typeof XMLHttpRequest !== 'undefined'

/** The server's response, of any status. Rejects with `Unreachable` if there is none, and with an abort's reason. */
export function uploadForm({ url, form, headers, signal, onProgress }: Upload): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', url)
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded, total, lengthComputable }) =>
      onProgress(lengthComputable && total > 0 ? loaded / total : 0)
    request.onload = () => resolve(asResponse(request))
    request.onerror = () => reject(unreachable(null))
    request.onabort = () => reject(signal?.reason as Error)
    signal?.addEventListener('abort', () => request.abort(), { once: true })
    request.send(form)
  })
}

function asResponse(request: XMLHttpRequest): Response {
  const headers: [string, string][] = request
    .getAllResponseHeaders()
    .trim()
    .split(/\r?\n/)
    .flatMap((line): [string, string][] => {
      const at = line.indexOf(':')
      return at === -1 ? [] : [[line.slice(0, at), line.slice(at + 1).trim()]]
    })
  return new Response(request.responseText, { status: request.status, statusText: request.statusText, headers })
}
