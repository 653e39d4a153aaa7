import { describe, expect, it, test } from 'vitest'
import { emptyRun, type Checkpoint, type Message } from '@outlast/sdk'
import { filesIn } from '@outlast/sdk/react/code.ts'
import { answersOf } from '@/apps/screens/code/answers'
import { readText } from '@/apps/screens/code/code-viewer'
import { endingOf, imageType } from '@/apps/screens/code/file-kind'
import { byFile, marked } from '@/apps/screens/code/file-hits'
import { reasonOf, shownCheckpoints } from '@/apps/screens/code/history-view'
import { comparable, differencesOf } from '@/apps/screens/code/run-changes'
import { sums } from '@/features/workspace-files/checkpoints'

const message = (id: string, role: Message['role'], words: string, run_id: string | null = null): Message => ({
  id,
  thread_id: 'thr_1',
  position: 1,
  role,
  sender_id: null,
  sender_name: null,
  status: 'complete',
  parts: [{ type: 'text', id, step: 0, text: words }],
  model: null,
  profile: null,
  run_id,
  credits: null,
  error: null,
  stop_reason: null,
  created_at: '2026-11-20T12:00:00Z',
})
const checkpoint = (
  id: string,
  reason: Checkpoint['reason'],
  tree: string,
  run_id: string | null = null,
): Checkpoint => ({
  id,
  workspace_id: 'wsp_1',
  project_id: 'prj_1',
  run_id,
  message_id: null,
  effect_id: null,
  parent_id: null,
  reason,
  tree,
  files: 1,
  size_bytes: 1,
  created_at: '2026-11-20T12:00:00Z',
})

describe('what a run changed', () => {
  it('is compared line by line, with new and gone files against nothing', async () => {
    const [added, changed, removed, long] = await differencesOf([
      { path: 'a.ts', status: 'added', before: null, after: 'one\ntwo\n', before_bytes: null, after_bytes: 8 },
      { path: 'b.ts', status: 'changed', before: 'x\nsame\n', after: 'y\nsame\n', before_bytes: 7, after_bytes: 7 },
      { path: 'c.ts', status: 'removed', before: 'gone\n', after: null, before_bytes: 5, after_bytes: null },
      { path: 'd.png', status: 'changed', before: null, after: null, before_bytes: 9, after_bytes: 10 },
    ])
    expect(sums(added?.diff ?? '')).toEqual({ added: 2, removed: 0 })
    expect(sums(changed?.diff ?? '')).toEqual({ added: 1, removed: 1 })
    expect(sums(removed?.diff ?? '')).toEqual({ added: 0, removed: 1 })
    expect(long).toMatchObject({ change: 'changed', diff: null, after_bytes: 10 })
    expect(comparable({ status: 'added', before: null, after: '' })).toBe(true)
  })
})

describe('the answers of a screen', () => {
  const messages = [message('m1', 'user', 'A pricing\npage'), message('m2', 'assistant', 'Done', 'run_1')]

  it('are named by what was asked, the newest first, also the one being made', () => {
    const runs = { run_2: { ...emptyRun('run_2'), message_id: 'm3', status: 'running' as const } }
    const all = [...messages, message('m3', 'user', 'Bluer')]
    expect(answersOf({ messages: all, runs }).map(({ runId, words }) => [runId, words])).toEqual([
      ['run_2', 'Bluer'],
      ['run_1', 'A pricing page'],
    ])
  })

  it('name the points to come back to', () => {
    const answers = answersOf({ messages, runs: {} })
    expect(reasonOf(checkpoint('c', 'message', 't', 'run_1'), answers)).toBe('A pricing page')
    const last = { ...checkpoint('c', 'tool', 't', 'run_1'), message_id: 'm2' }
    expect(reasonOf(last, answers)).toBe('A pricing page')
    expect(shownCheckpoints([checkpoint('d', 'person', 'u'), last], false)).toContain(last)
    expect(reasonOf(checkpoint('c', 'person', 't'), answers)).toBe('Edited by hand')
  })
})

test('points in between, and points that changed nothing, are left out unless asked for', () => {
  const items = [
    checkpoint('5', 'message', 'B'),
    checkpoint('4', 'tool', 'B'),
    checkpoint('3', 'tool', 'A2'),
    checkpoint('2', 'message', 'A'),
    checkpoint('1', 'sleep', 'A'),
  ]
  expect(shownCheckpoints(items, false).map(({ id }) => id)).toEqual(['5', '2'])
  expect(shownCheckpoints(items, true).map(({ id }) => id)).toEqual(['5', '3', '2'])
})

test('hits are listed by file, and what was looked for is marked', () => {
  const hits = [
    { path: 'a', line: 1, text: 'x' },
    { path: 'b', line: 2, text: 'x' },
    { path: 'a', line: 3, text: 'x' },
  ]
  expect(byFile(hits).map(({ path, hits }) => [path, hits.length])).toEqual([
    ['a', 2],
    ['b', 1],
  ])
  expect(marked('  const Price = price', 'PRICE')).toEqual([
    { text: 'const ', hit: false },
    { text: 'Price', hit: true },
    { text: ' = ', hit: false },
    { text: 'price', hit: true },
  ])
  expect(marked(`${'a'.repeat(80)}needle`, 'needle')[0]).toEqual({ text: '…', hit: false })
  expect(marked('nothing', 'else')).toEqual([{ text: 'nothing', hit: false }])
})

test('a file is text or it is not, and a long one is cut at the end of a line', async () => {
  expect(await readText(new Blob(['héllo\n']))).toEqual({ text: 'héllo\n', cut: 0 })
  expect(await readText(new Blob([new Uint8Array([0, 1, 2])]))).toBeNull()
  expect(await readText(new Blob([new Uint8Array([0xff, 0xfe, 0x41])]))).toBeNull()
  expect(await readText(new Blob(['one\ntwo\nthree\n']), 9)).toEqual({ text: 'one\ntwo\n', cut: 6 })
  expect([endingOf('a/b.test.TSX'), endingOf('a.b/c'), imageType('x.svg'), imageType('x.tsx')]).toEqual([
    'tsx',
    '',
    'image/svg+xml',
    null,
  ])
})

test('only events of the same workspace say that files changed', () => {
  const event = (name: string, data: object) =>
    ({ event: name, data, id: 'x:1', timestamp: '', sequenceNumber: 1 }) as never
  const changed = event('files.changed', { workspace_id: 'wsp_1', files: [{ path: 'a.ts' }] })
  expect(filesIn(changed, 'wsp_1')).toEqual(['a.ts'])
  expect(filesIn(changed, 'wsp_2')).toBeNull()
  expect(filesIn(event('checkpoint.created', { checkpoint: { workspace_id: 'wsp_1' } }), 'wsp_1')).toEqual([])
  expect(filesIn(event('sandbox.state', { workspace_id: 'wsp_1', state: 'paused' }), 'wsp_1')).toEqual([])
  expect(filesIn(event('sandbox.state', { workspace_id: 'wsp_1', state: 'resuming' }), 'wsp_1')).toBeNull()
  expect(filesIn(event('run.started', { run_id: 'run_1' }), 'wsp_1')).toBeNull()
})
