import { describe, expect, it } from 'vitest'
import { MOST_DATA_BYTES } from '@/page-runtime/action-rules'
import { readFromFrame, readToFrame, safeLink } from '@/page-runtime/protocol'

const said = (more: Record<string, unknown>) => ({ outlast: 'page', ...more })

describe('what a frame says', () => {
  it.each([
    null,
    undefined,
    'ready',
    42,
    [],
    {},
    { type: 'ready' },
    { outlast: 'page' },
    said({ type: 'html', version: 1, html: '<b>' }),
    said({ type: 'eval', code: '1' }),
    said({ type: 'action', key: 'k', name: 'Bad name', data: {} }),
    said({ type: 'action', key: 'k', name: 'x'.repeat(65), data: {} }),
    said({ type: 'action', key: 'k', name: 'ok', data: [] }),
    said({ type: 'action', key: 'k', name: 'ok' }),
    said({ type: 'action', key: 'k'.repeat(65), name: 'ok', data: {} }),
    said({ type: 'action', key: 'k', name: 'ok', data: { text: 'x'.repeat(MOST_DATA_BYTES) } }),
    said({ type: 'open', href: 'javascript:alert(1)' }),
    said({ type: 'open', href: 'data:text/html,x' }),
    said({ type: 'open', href: '/v1/me' }),
    said({ type: 'height', height: -1 }),
    said({ type: 'height', height: 1e9 }),
    said({ type: 'applied', version: 1.5 }),
    said({ type: 'trouble', text: '' }),
  ])('is nothing where it is not exactly one of the messages: %j', (value) => {
    expect(readFromFrame(value)).toBeNull()
  })
  it('is an action with a name and values', () => {
    const action = said({ type: 'action', key: 'k1', name: 'close-issue', data: { issue: 'ENG-7' } })
    expect(readFromFrame({ ...action, more: 'is left out' })).toEqual(action)
  })
  it('is bounded in length', () => {
    const read = readFromFrame(said({ type: 'trouble', text: 'x'.repeat(5000) }))
    expect(read).toMatchObject({ type: 'trouble' })
    expect(read?.type === 'trouble' && read.text.length).toBe(500)
  })
})

describe('links', () => {
  it('are opened where they lead to the web or to mail', () => {
    expect(safeLink('https://example.com/a?b#c')).toBe('https://example.com/a?b#c')
    expect(safeLink('mailto:ada@example.com')).toBe('mailto:ada@example.com')
  })
  it.each(['javascript:alert(1)', ' javascript:alert(1)', 'JaVaScRiPt:x', 'file:///etc/passwd', 'x', '', 7, null])(
    'are not opened otherwise: %j',
    (href) => {
      expect(safeLink(href)).toBeNull()
    },
  )
})

describe('what the app says', () => {
  it('is taken by kind', () => {
    expect(readToFrame(said({ type: 'look', theme: 'dark', readOnly: false }))).not.toBeNull()
    expect(readToFrame(said({ type: 'ready' }))).toBeNull()
    expect(readToFrame('look')).toBeNull()
  })
})
