/** Server-sent events read from a fetch body, so that headers and abort work (EventSource has neither). */

export interface Frame {
  /** The cursor after this frame; null on frames that are never logged (presence). */
  id: string | null
  event: string | null
  data: string
}

/**
 * Yields the frames of every network read as one list, so that a burst is folded and painted once. An empty list means
 * that bytes arrived without a whole frame, such as a heartbeat. Returns when the server closes the stream; leaving the
 * loop early cancels the body.
 */
export async function* readFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame[]> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      rest += decoder.decode(value, { stream: true })
      const blocks = rest.split(/\r\n\r\n|\n\n|\r\r/)
      rest = blocks.pop() ?? ''
      yield blocks.map(parseBlock).filter((frame) => frame !== null)
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** One block of lines; null for comments and for blocks without data. */
export function parseBlock(block: string): Frame | null {
  let id: string | null = null
  let event: string | null = null
  const data: string[] = []
  for (const line of block.split(/\r\n|\n|\r/)) {
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'id') id = value
    else if (field === 'event') event = value
    else if (field === 'data') data.push(value)
  }
  return data.length === 0 ? null : { id, event, data: data.join('\n') }
}
