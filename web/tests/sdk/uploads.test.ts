import { expect, it } from 'vitest'
import { PermissionNeeded, Unreachable, uploadFile, type OutlastClient, type RequestOptions } from '@outlast/sdk'

const FILE = new File([new Uint8Array(5_000_000)], 'a.bin')
const PAUSES = [0, 0]

/** A server that stores pieces; `breaks` makes a numbered request fail after or before it is carried out. */
function server(breaks: Record<number, 'before' | 'after' | 'refused'> = {}) {
  const asked: string[] = []
  const state = { offset: 0 }
  const json = async (method: string, path: string, { query, bytes }: RequestOptions = {}): Promise<unknown> => {
    asked.push(`${method} ${path}${query === undefined ? '' : ` ${query['offset']}`}`)
    const broken = breaks[asked.length]
    if (broken === 'before') throw new Unreachable({ code: 'unreachable', detail: '', status: 0 })
    if (broken === 'refused') throw new PermissionNeeded({ code: 'forbidden', detail: 'No.', status: 403 })
    if (bytes !== undefined && query?.['offset'] === state.offset) state.offset += bytes.size
    if (broken === 'after') throw new Unreachable({ code: 'unreachable', detail: '', status: 0 })
    return { id: 'att_1', offset: state.offset }
  }
  return { asked, client: { json } as unknown as Pick<OutlastClient, 'json'> }
}

it('sends a file in pieces and tells how much is stored', async () => {
  const { asked, client } = server()
  const shares: number[] = []
  await uploadFile(client, 'prj_1', FILE, { onProgress: (share) => shares.push(share) })
  expect(asked).toEqual([
    'POST /v1/uploads',
    'PATCH /v1/uploads/att_1 0',
    'PATCH /v1/uploads/att_1 2000000',
    'PATCH /v1/uploads/att_1 4000000',
    'POST /v1/uploads/att_1/complete',
  ])
  expect(shares).toEqual([0.4, 0.8, 1])
})

it('repeats a piece that did not arrive', async () => {
  const { asked, client } = server({ 3: 'before', 4: 'before' })
  await uploadFile(client, 'prj_1', FILE, { pausesMs: PAUSES })
  expect(asked.filter((one) => one.endsWith(' 2000000'))).toHaveLength(3)
})

it('gives up after several failures in a row, and continues the same upload later', async () => {
  const { asked, client } = server({ 3: 'before', 4: 'before', 5: 'before' })
  const session = {}
  await expect(uploadFile(client, 'prj_1', FILE, { pausesMs: PAUSES, session })).rejects.toBeInstanceOf(Unreachable)
  await uploadFile(client, 'prj_1', FILE, { session })
  expect(asked.slice(5)).toEqual([
    'GET /v1/uploads/att_1',
    'PATCH /v1/uploads/att_1 2000000',
    'PATCH /v1/uploads/att_1 4000000',
    'POST /v1/uploads/att_1/complete',
  ])
})

it('does not repeat what the server refuses', async () => {
  const { asked, client } = server({ 2: 'refused' })
  await expect(uploadFile(client, 'prj_1', FILE, { pausesMs: PAUSES })).rejects.toBeInstanceOf(PermissionNeeded)
  expect(asked).toHaveLength(2)
})
