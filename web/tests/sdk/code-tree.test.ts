import { describe, expect, it, test } from 'vitest'
import { fileTree, foldersOf, treeKey, visibleRows } from '@outlast/sdk'

const FILES = [
  'package.json',
  'components/ui/button.tsx',
  'app/page.tsx',
  'components/Hero.tsx',
  'app/globals.css',
].map((path) => ({ path, size: path.length }))
const rows = (...open: string[]) => visibleRows(fileTree(FILES), new Set(open))
const paths = (...open: string[]) => rows(...open).map(({ node }) => node.path)

describe('a tree of files', () => {
  it('puts folders before files, and shows what is in open ones', () => {
    expect(paths()).toEqual(['app', 'components', 'package.json'])
    expect(paths('components', 'app')).toEqual([
      'app',
      'app/globals.css',
      'app/page.tsx',
      'components',
      'components/ui',
      'components/Hero.tsx',
      'package.json',
    ])
  })

  it('tells each line its depth and its place among its siblings', () => {
    const row = rows('components').find(({ node }) => node.path === 'components/Hero.tsx')
    expect(row).toMatchObject({ level: 2, place: 2, siblings: 2, expanded: false })
  })

  it('holds every file once, whatever the paths', () => {
    const many = Array.from({ length: 300 }, (_, n) => ({ path: `${'d/'.repeat(n % 5)}f${n}`, size: n }))
    const folders = new Set(many.flatMap(({ path }) => foldersOf(path)))
    const shown = visibleRows(fileTree(many), folders).filter(({ node }) => node.kind === 'file')
    expect(shown.map(({ node }) => node.path).sort()).toEqual(many.map(({ path }) => path).sort())
  })
})

test('the folders around a file are named from the outside in', () => {
  expect(foldersOf('components/ui/button.tsx')).toEqual(['components', 'components/ui'])
  expect(foldersOf('package.json')).toEqual([])
})

test.each([
  ['ArrowDown', 'app', { to: 'app/globals.css' }],
  ['ArrowUp', 'app', null],
  ['ArrowRight', 'app', { to: 'app/globals.css' }],
  ['ArrowRight', 'components', { expand: 'components' }],
  ['ArrowRight', 'package.json', null],
  ['ArrowLeft', 'app', { collapse: 'app' }],
  ['ArrowLeft', 'app/page.tsx', { to: 'app' }],
  ['ArrowLeft', 'package.json', null],
  ['Home', 'package.json', { to: 'app' }],
  ['End', 'app', { to: 'package.json' }],
  ['Enter', 'app/page.tsx', { open: 'app/page.tsx' }],
  ['Enter', 'app', { collapse: 'app' }],
  [' ', 'components', { expand: 'components' }],
  ['p', 'app', { to: 'app/page.tsx' }],
  ['p', 'app/page.tsx', { to: 'package.json' }],
  ['Tab', 'app', null],
])('%s at %s', (key, at, move) => {
  expect(treeKey(rows('app'), at, key)).toEqual(move)
})
