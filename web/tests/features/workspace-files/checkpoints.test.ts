import { expect, test } from 'vitest'
import type { Checkpoint, KeptFile } from '@outlast/sdk'
import { asTree, diffLines, ofAnswer, sums } from '@/features/workspace-files/checkpoints'

const file = (path: string, kind: KeptFile['kind'] = 'file'): KeptFile => ({
  path,
  kind,
  size_bytes: 1,
  mode: '644',
  modified_at: '2030-01-01T11:00:00Z',
  target: null,
})

const checkpoint = (id: string, message_id: string | null): Checkpoint => ({
  id,
  workspace_id: 'wsp_1',
  project_id: 'prj_1',
  run_id: null,
  message_id,
  effect_id: null,
  parent_id: null,
  reason: 'tool',
  tree: 'f'.repeat(64),
  files: 1,
  size_bytes: 1,
  created_at: '2030-01-01T11:00:00Z',
})

test('folders come before the files beside them, and each before what is in it', () => {
  const entries = [
    file('a.txt'),
    file('src', 'directory'),
    file('src-old', 'directory'),
    file('src-old/x'),
    file('src/b.ts'),
    file('src/lib', 'directory'),
    file('src/lib/c.ts'),
  ]
  const shown = asTree(entries)
  expect(shown.map(({ path }) => path)).toEqual([
    'src',
    'src/lib',
    'src/lib/c.ts',
    'src/b.ts',
    'src-old',
    'src-old/x',
    'a.txt',
  ])
  expect(shown[2]).toMatchObject({ name: 'c.ts', depth: 2 })
})

test('a difference is shown line by line without its heads', () => {
  const diff = '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old\n--- not a head\n+new'
  expect(diffLines(diff)).toEqual([
    { kind: 'place', text: '@@ -1,2 +1,2 @@', before: null, after: null },
    { kind: 'same', text: 'same', before: 1, after: 1 },
    { kind: 'removed', text: 'old', before: 2, after: null },
    { kind: 'removed', text: '-- not a head', before: 3, after: null },
    { kind: 'added', text: 'new', before: null, after: 2 },
  ])
  expect(sums(diff)).toEqual({ added: 1, removed: 2 })
})

test('an answer has the checkpoint that names it', () => {
  const items = [checkpoint('ckp_2', null), checkpoint('ckp_1', 'msg_1')]
  expect(ofAnswer(items, 'msg_1')?.id).toBe('ckp_1')
  expect(ofAnswer(items, 'msg_2')).toBeNull()
})
