import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { Connection, OutlastClient, type ConnectionState, type OutlastEvent } from '@outlast/sdk'

const closers: (() => void)[] = []
afterEach(() => closers.splice(0).forEach((close) => close()))

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** A real HTTP server on a free port. */
async function serve(handler: Handler): Promise<string> {
  const server = createServer(handler)
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  closers.push(() => (server.closeAllConnections(), server.close()))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const frame = (n: number, event = 'text.delta') =>
  `id: ${n}\ndata: ${JSON.stringify({ id: `run_1:${n}`, event, data: { part_id: 'p', delta: String(n) }, timestamp: '', sequenceNumber: n })}\n\n`

const stream = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' })

const after = (request: IncomingMessage) => Number(new URL(request.url ?? '', 'http://x').searchParams.get('after'))

function refuse(response: ServerResponse, status: number, code: string) {
  response.writeHead(status, { 'content-type': 'application/problem+json' })
  response.end(JSON.stringify({ status, code, detail: code, hint: '', fields: {} }))
}

/** Follows run_1 until the wanted state; answers everything that was seen on the way. */
function follow(baseUrl: string, until: (state: ConnectionState, seen: number[]) => boolean, cursor = '0') {
  const client = new OutlastClient({ baseUrl })
  const seen: number[] = []
  const states: ConnectionState[] = []
  let loads = 0
  return new Promise<{ seen: number[]; states: ConnectionState[]; loads: number }>((resolve) => {
    const look = () => {
      const state = states.at(-1)
      if (state === undefined || !until(state, seen)) return
      connection.stop()
      resolve({ seen, states, loads })
    }
    const connection: Connection = new Connection({
      load: () => ((loads += 1), Promise.resolve(cursor)),
      open: (at, signal) => client.openEvents('runs', 'run_1', at, signal),
      onEvents: (events: OutlastEvent[]) => (seen.push(...events.map((e) => e.sequenceNumber)), look()),
      onState: (state) => (states.push(state), look()),
      isEnd: (event) => event.event === 'stream.ended',
      firstPauseMs: 5,
      maxPauseMs: 20,
      silentMs: 200,
    })
    closers.push(() => connection.stop())
    connection.start()
  })
}

test('a stream cut again and again gives every event once and in order', async () => {
  let opened = 0
  const url = await serve((request, response) => {
    const from = after(request)
    opened += 1
    stream(response)
    for (let n = from + 1; n <= Math.min(from + 3, 20); n += 1)
      response.write(frame(n, n === 20 ? 'stream.ended' : undefined))
    response.write('id: 99\nda') // half a frame must not move the cursor
    setTimeout(() => response.destroy(), 5)
  })
  const { seen, loads } = await follow(url, ({ status }) => status === 'ended')
  expect(seen).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
  expect(opened).toBeGreaterThanOrEqual(7) // a frame that was not read yet when the stream is cut comes with the next one
  expect(loads).toBe(1)
})

test('204 ends the following', async () => {
  const url = await serve((_, response) => response.writeHead(204).end())
  const { states } = await follow(url, ({ status }) => status === 'ended')
  expect(states.map(({ status }) => status)).toEqual(['connecting', 'ended'])
})

test('an unknown cursor takes a fresh snapshot', async () => {
  let first = true
  const url = await serve((request, response) => {
    if (first) {
      first = false
      return refuse(response, 400, 'cursor_unknown')
    }
    stream(response).write(frame(after(request) + 1, 'stream.ended'))
  })
  const { loads, seen } = await follow(url, ({ status }) => status === 'ended', '7')
  expect(loads).toBe(2)
  expect(seen).toEqual([8])
})

test.each([401, 403, 404])('%i stops for good', async (status) => {
  const url = await serve((_, response) => refuse(response, status, 'no'))
  const { states } = await follow(url, (state) => state.status === 'failed')
  expect(states.at(-1)?.error).toMatchObject({ status, code: 'no' })
})

test('a server that is down is tried again, and the first thing it brings back clears the failures', async () => {
  let tries = 0
  const url = await serve((request, response) => {
    tries += 1
    if (tries <= 3) return refuse(response, 503, 'storage_unavailable')
    stream(response).write(frame(after(request) + 1))
  })
  const { states } = await follow(url, (_, seen) => seen.length === 1)
  expect(states.map(({ failures }) => failures)).toEqual([0, 1, 2, 3, 3])
})

test('a stream without heartbeat is taken for dead and opened again', async () => {
  let opened = 0
  const url = await serve((request, response) => {
    opened += 1
    stream(response).write(frame(after(request) + 1))
  })
  const { seen } = await follow(url, (_, all) => all.length === 2)
  expect(seen).toEqual([1, 2])
  expect(opened).toBe(2)
})
