import { expect, it } from 'vitest'
import { Conflict, OutlastClient, Unreachable } from '@outlast/sdk'
import { once } from '@/lib/idempotent-request'

const problem = (status: number) => ({ code: 'x', status, detail: 'x' })

it('what a person wants once keeps its key until it is answered', async () => {
  const keys: string[] = []
  const failing = (error: Error) => (key: string) => (keys.push(key), Promise.reject(error))
  const working = (key: string) => (keys.push(key), Promise.resolve('done'))
  await expect(once('assign 1', failing(new Unreachable(problem(0))))).rejects.toThrow()
  await once('assign 2', working)
  await once('assign 1', working)
  expect(keys[2]).toBe(keys[0])
  expect(keys[1]).not.toBe(keys[0])
  await expect(once('assign 1', failing(new Conflict(problem(409))))).rejects.toThrow()
  await once('assign 1', working)
  expect(new Set(keys).size).toBe(4)
})

it('requests that change a document or start a run carry the key that they are given', async () => {
  const keys: (string | null)[] = []
  const client = new OutlastClient({
    fetch: (_, init) => {
      keys.push(new Headers(init?.headers).get('idempotency-key'))
      return Promise.resolve(Response.json({}))
    },
  })
  const idempotencyKey = 'k'
  await client.documents.change('doc_1', [], undefined, { idempotencyKey })
  await client.documents.import('doc_1', { markdown: 'x' }, { idempotencyKey })
  await client.documents.assign('com_1', { to: 'agent' }, { idempotencyKey })
  await client.fork('thr_1', { summary: true }, idempotencyKey)
  await client.postMessage('thr_1', { content: 'x' }, idempotencyKey)
  expect(keys).toEqual(['k', 'k', 'k', 'k', 'k'])
})
