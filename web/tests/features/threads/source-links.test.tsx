import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import type { SourceLink } from '@outlast/sdk'
import { SourceLinks } from '@/features/threads/source-links'

const shown = (...sources: SourceLink[]) =>
  renderToStaticMarkup(<SourceLinks part={{ type: 'sources', id: 'prt_1', step: 1, call_id: 'call_1', sources }} />)

test('a source is a link with its title and host, which opens elsewhere', () => {
  const html = shown({ url: 'https://www.shop.example/terms?a=1&b=2', title: 'Terms' })
  expect(html).toContain('href="https://www.shop.example/terms?a=1&amp;b=2"')
  expect(html).toMatch(/target="_blank" rel="noreferrer noopener"[^>]*>Terms<\/a>/)
  expect(html).toMatch(/>shop\.example<\/span>/)
})

test('a source without a title shows its address', () => {
  expect(shown({ url: 'https://shop.example/a', title: '' })).toContain('>https://shop.example/a</a>')
})

test.each(['javascript:alert(1)', 'data:text/html,hi', '/v1/session', 'not an address'])(
  'only web addresses are links: %s',
  (url) => {
    expect(shown({ url, title: 'Terms' })).toBe('')
  },
)

test('four sources are shown, and how many more there are', () => {
  const sources = Array.from({ length: 6 }, (_, n) => ({ url: `https://shop.example/${n}`, title: `Page ${n}` }))
  const html = shown(...sources)
  expect(html.match(/<a /g)).toHaveLength(4)
  expect(html).toContain('Show 2 more sources')
})

test('a title is text', () => {
  expect(shown({ url: 'https://shop.example/', title: '<img src=x>' })).not.toContain('<img')
})
