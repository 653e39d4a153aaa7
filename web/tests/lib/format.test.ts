import { expect, test } from 'vitest'
import { ago, bytes, countdown, dollars, duration, parseObject, percent, plural, prettyJson } from '@/lib/format'

const NOW = Date.parse('2026-11-20T12:00:00Z')
const before = (seconds: number) => new Date(NOW - seconds * 1000).toISOString()

test.each([
  [10, 'now'],
  [300, '5m'],
  [7200, '2h'],
  [200_000, '2d'],
])('%i seconds before reads %s', (seconds, words) => {
  expect(ago(before(seconds), NOW)).toBe(words)
})

test.each([
  [0.041, '41 ms'],
  [2.14, '2.1 s'],
  [2, '2 s'],
  [59.4, '59 s'],
  [61, '1 min 1 s'],
  [3720, '1 h 2 min'],
])('%f s reads %s', (seconds, words) => {
  expect(duration(seconds)).toBe(words)
})

test.each([
  [3, 4, '75 %'],
  [0, 10, '0 %'],
  [0, 0, '–'],
])('%i of %i reads %s', (part, whole, words) => {
  expect(percent(part, whole)).toBe(words)
})

test.each([
  [-245, '4:05'],
  [-7260, '2 h 1 min'],
  [-600_000, '6 d 22 h'],
  [5, '0:00'],
])('a countdown of %i s', (seconds, words) => {
  expect(countdown(before(seconds), NOW)).toBe(words)
})

test('amounts', () => {
  expect([bytes(999), bytes(1500), bytes(2_500_000), bytes(2_147_483_648)]).toEqual([
    '999 B',
    '2 kB',
    '2.5 MB',
    '2.1 GB',
  ])
  expect([dollars(0), dollars(0.0042), dollars(1.5)]).toEqual(['$0', '$0.0042', '$1.50'])
  expect([plural(1, 'step'), plural(2, 'step')]).toEqual(['1 step', '2 steps'])
})

test('JSON that is still being written stays as it is', () => {
  expect(prettyJson('{"a":')).toBe('{"a":')
  expect(parseObject('{"a":')).toBeNull()
  expect(parseObject('[1]')).toBeNull()
  expect(parseObject('{"a":1}')).toEqual({ a: 1 })
})
