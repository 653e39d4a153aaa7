import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { foldRun, foldThread, type OutlastEvent, type RunState, type ThreadState } from '@outlast/sdk'

interface Case {
  name: string
  kind: 'run' | 'thread'
  start: RunState | ThreadState
  steps: { event: OutlastEvent; changes: object }[]
}

const folder = new URL('../../../contract/cases/', import.meta.url)
const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
const read = (name: string) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Case

function apply(kind: Case['kind'], state: RunState | ThreadState, event: OutlastEvent) {
  return kind === 'run' ? foldRun(state as RunState, event) : foldThread(state as ThreadState, event)
}

describe('the shared fold cases', () => {
  test.each(files)('%s', (file) => {
    const { kind, start, steps } = read(file)
    let state = start
    for (const { event, changes } of steps) {
      const before = structuredClone(state)
      const next = apply(kind, state, event)
      expect(next, `after ${event.id} ${event.event}`).toEqual({ ...before, ...changes })
      expect(state, 'the earlier state is never changed in place').toEqual(before)
      state = next
    }
  })

  test('there are cases of both kinds', () => {
    expect(new Set(files.map((file) => read(file).kind))).toEqual(new Set(['run', 'thread']))
  })
})
