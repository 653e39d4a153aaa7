import { expect, it } from 'vitest'
import { wordDiff } from '@/components/word-diff'

const told = (before: string, after: string): string =>
  wordDiff(before, after)
    .map(({ text, state }) => (state === 'same' ? text : state === 'added' ? `[+${text}]` : `[-${text}]`))
    .join('')
const side = (before: string, after: string, other: 'added' | 'removed'): string =>
  wordDiff(before, after)
    .filter(({ state }) => state !== other)
    .map(({ text }) => text)
    .join('')

it('tells which words went and came', () => {
  expect(told('the old boat sails slowly today', 'the new boat sails slowly today')).toBe(
    'the [-old][+new] boat sails slowly today',
  )
})
it('takes a word that stays between longer changes into them', () => {
  const diff = wordDiff(
    'Guests pay for each night. The fee is collected in the morning by the harbour master, who comes by boat.',
    'Guests pay for each night, at the office, before they leave.',
  )
  expect(diff.length).toBeLessThanOrEqual(4)
  expect(diff[0]?.text).toBe('Guests pay for each night')
})
it('tells texts that share nothing as one replaced by the other', () => {
  expect(told('a b c d e f g', 'h i j k l m n')).toBe('[-a b c d e f g][+h i j k l m n]')
})
it('always holds both texts whole', () => {
  let seed = 3
  const chance = (n: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n
  const words = ['boat', 'the', 'a', 'harbour', 'sails', ',', '**now**', '\n\n', 'is']
  const text = () => Array.from({ length: chance(14) }, () => words[chance(words.length)]).join(' ')
  for (let turn = 0; turn < 300; turn++) {
    const [before, after] = [text(), text()]
    expect(side(before, after, 'added')).toBe(before)
    expect(side(before, after, 'removed')).toBe(after)
  }
})
