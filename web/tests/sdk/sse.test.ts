import { expect, test } from 'vitest'
import { parseBlock, readFrames } from '../../../sdk/typescript/src/sse'

function body(...pieces: (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(typeof piece === 'string' ? encoder.encode(piece) : piece)
      controller.close()
    },
  })
}

async function all(stream: ReadableStream<Uint8Array>) {
  const frames = []
  for await (const batch of readFrames(stream)) frames.push(...batch)
  return frames
}

test('a frame may be cut anywhere, also inside a character', async () => {
  const bytes = new TextEncoder().encode('id: 1\ndata: 你好\n\n')
  const pieces = Array.from(bytes, (byte) => new Uint8Array([byte]))
  expect(await all(body(...pieces))).toEqual([{ id: '1', event: null, data: '你好' }])
})

test('comments are heartbeats and not frames; presence has no id', async () => {
  const frames = await all(body(': beat\n\n', 'event: presence\ndata: {}\n\n'))
  expect(frames).toEqual([{ id: null, event: 'presence', data: '{}' }])
})

test('an unfinished last frame is dropped: it will be sent again', async () => {
  expect(await all(body('id: 1\ndata: a\n\nid: 2\ndata: b\n'))).toHaveLength(1)
})

test('several data lines are one text; only one leading blank is cut', () => {
  expect(parseBlock('data:  a\ndata:b')).toEqual({ id: null, event: null, data: ' a\nb' })
})
