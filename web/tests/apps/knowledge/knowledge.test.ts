import { describe, expect, it } from 'vitest'
import type { KnowledgeSource } from '@outlast/sdk'
import { grouped, nameOf, withSource } from '@/apps/knowledge/knowledge'
import { parts } from '@/components/marked'

const source = (id: string, more: Partial<KnowledgeSource> = {}): KnowledgeSource => ({
  id,
  project_id: 'prj_1',
  package: 'npm:tracker',
  kind: 'markdown',
  location: `https://docs.test/${id}`,
  version: '',
  state: 'ready',
  error: null,
  passages: 2,
  embedded: 0,
  size_bytes: 10,
  fetched_at: null,
  checked_at: null,
  created_at: `2030-01-0${id}T00:00:00.000Z`,
  ...more,
})

describe('packages', () => {
  it('lie in the order of their names, their sources as they were added', () => {
    const groups = grouped([source('3'), source('2', { package: 'handbook' }), source('1', { version: '2.1' })])
    expect(groups.map(({ name }) => name)).toEqual(['handbook', 'npm:tracker'])
    expect(groups[1]?.sources.map(({ id }) => id)).toEqual(['1', '3'])
    expect(groups[1]).toMatchObject({ versions: ['2.1'], passages: 4 })
  })

  it('take a source as it is now into their list, known or new', () => {
    const all = [source('1'), source('2')]
    expect(withSource(all, source('2', { state: 'failed' }))[1]?.state).toBe('failed')
    expect(withSource(all, source('3'))).toHaveLength(3)
  })
})

describe('found words', () => {
  it('are marked where they stand whole, and nowhere else', () => {
    expect(parts('An issue, issues and a tissue.', ['issue'])).toEqual(['An ', 'issue', ', issues and a tissue.'])
    expect(parts('Prüfung: prüfen', ['prüfen'])).toEqual(['Prüfung: ', 'prüfen', ''])
  })

  it('may hold what means something to patterns, or be none at all', () => {
    expect(parts('cost(a+b)', ['a+b', ''])).toEqual(['cost(', 'a+b', ')'])
    expect(parts('plain', [])).toEqual(['plain'])
  })
})

describe('the name of a source', () => {
  it.each([
    ['/srv/docs/handbook.md', 'handbook.md'],
    ['/srv/docs/', 'docs'],
    ['https://docs.example.com/llms.txt', 'https://docs.example.com/llms.txt'],
    ['npm:zod', 'npm:zod'],
  ])('%s is %s', (location, name) => {
    expect(nameOf({ location })).toBe(name)
  })
})
