import { describe, expect, it } from 'vitest'
import { readAnswer, readAnswers } from '@outlast/sdk'

const MARKS = ['<title>', '</title>', '<task_summary>', '</task_summary>', '<files_summary>', '</files_summary>']

const WHOLE = `I have built the page.

<title>
Pricing page
</title>

<task_summary>
## What I built
A **pricing page** with three plans.
</task_summary>

<files_summary>
- app/page.tsx: The page with its three plans
- \`components/plan-card.tsx\` - One plan
</files_summary>`

describe('an answer', () => {
  it('shows its prose and its summary, and hands title and files apart', () => {
    expect(readAnswer(WHOLE)).toEqual({
      text: 'I have built the page.\n\n## What I built\nA **pricing page** with three plans.',
      concludes: true,
      title: 'Pricing page',
      files: [
        { path: 'app/page.tsx', description: 'The page with its three plans' },
        { path: 'components/plan-card.tsx', description: 'One plan' },
      ],
    })
  })

  it('never shows a mark nor a listed file while it grows, wherever it is cut', () => {
    for (let cut = 0; cut <= WHOLE.length; cut++) {
      const { text } = readAnswer(WHOLE.slice(0, cut), true)
      expect(text).not.toMatch(/<\/?[a-z_]*>?$/)
      for (const mark of MARKS) expect(text).not.toContain(mark)
      expect(text).not.toContain('plan-card')
      expect(text).not.toContain('Pricing page')
    }
  })

  it('keeps what is no mark: comparisons, generics, other tags', () => {
    const text = 'When a < b, use `Array<string>`, `<div>` and <b>.'
    expect(readAnswer(text).text).toBe(text)
    expect(readAnswer('so a <', false).text).toBe('so a <')
    expect(readAnswer('`<title>` names the tab', true).text).toBe('`<title>` names the tab')
  })

  it('lets an answer speak of the title of a page', () => {
    const text = 'I set the <title> of the page, see <title>Shop</title>.'
    expect(readAnswer(text)).toMatchObject({ text, concludes: false, title: null, files: [] })
  })

  it('leaves a title alone that stands in a block of code', () => {
    const text = 'See:\n\n```html\n<head><title>Shop</title></head>\n```\n\nDone.'
    expect(readAnswer(text)).toMatchObject({ text, concludes: false, title: null, files: [] })
  })

  it('reads a summary that was never closed, and a title without an end as one line', () => {
    expect(readAnswer('<task_summary>\nHalf').text).toBe('Half')
    expect(readAnswer('<title>A page\n\nIt is done.')).toMatchObject({ text: 'It is done.', title: 'A page' })
    expect(readAnswer('Done.</task_summary>').text).toBe('Done.')
  })

  it('is read by its last conclusion, where it concluded several times', () => {
    const texts = [
      'I begin.',
      '<task_summary>First</task_summary>',
      'I mend it.',
      '<task_summary>Second</task_summary>',
    ]
    expect(readAnswers(texts).map(({ text }) => text)).toEqual(['I begin.', '', 'I mend it.', 'Second'])
    expect(readAnswers([...texts.slice(0, 3), '<task_su'], true).map(({ text }) => text)).toEqual([
      'I begin.',
      'First',
      'I mend it.',
      '',
    ])
  })

  it('never shows a mark of any mixture of marks, words and cuts', () => {
    const pieces = [...MARKS, 'word ', '\n', '<', '</', '```\n', '`', 'app/page.tsx: x', '<ti', '<TITLE>', '_']
    const random = seeded(7)
    for (let round = 0; round < 500; round++) {
      const text = Array.from({ length: random(14) }, () => pieces[random(pieces.length)]).join('')
      for (const growing of [true, false]) {
        const shown = readAnswer(text, growing).text
        for (const mark of ['<task_summary>', '</task_summary>', '<files_summary>', '</files_summary>'])
          expect(shown.replaceAll(/`<\/?\w+>`/g, '')).not.toContain(mark)
      }
    }
  })

  it('reads the same whether it came at once or has grown', () => {
    const random = seeded(11)
    const words = ['a ', '\n\n', '<title>T</title>', '<task_summary>S</task_summary>', '- a/b.tsx: c\n']
    for (let round = 0; round < 200; round++) {
      const text = Array.from({ length: random(9) }, () => words[random(words.length)]).join('')
      expect(readAnswer(text, true)).toEqual(readAnswer(text))
    }
  })
})

/** Whole numbers below a bound, the same every time. */
function seeded(state: number): (below: number) => number {
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}
