import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, test } from 'vitest'
import { Markdown } from '@/components/markdown'

const shown = (text: string) => renderToStaticMarkup(<Markdown text={text} />)

describe('what an agent writes cannot act in the page', () => {
  test.each([
    '<img src=x onerror="alert(1)">',
    '<script>alert(1)</script>',
    'a <svg onload=alert(1)> b',
    '<iframe srcdoc="x"></iframe>',
    '<style>body{display:none}</style>',
    '| a |\n|---|\n| <img src=x onerror=alert(1)> |',
  ])('HTML is shown as text: %s', (text) => {
    expect(shown(text)).not.toMatch(/<(img|script|svg|iframe|style)/)
    expect(shown(text)).toContain('&lt;')
  })

  // A refused address became an empty one, which opened the page itself once more.
  test.each([
    '[x](javascript:alert(1))',
    '[x](data:text/html,hi)',
    '[x](/v1/session)',
    '[x](//elsewhere.example)',
    '![x](javascript:alert(1))',
    '[x]\n\n[x]: vbscript:alert(1)',
  ])('only pages elsewhere are links: %s', (text) => {
    expect(shown(text)).not.toContain('<a')
    expect(shown(text)).toContain('x')
  })

  test('links to pages elsewhere open without telling them who came', () => {
    expect(shown('[x](https://a.example/"b)')).toMatch(
      /<a href="https:[^"]*" target="_blank" rel="noreferrer noopener">/,
    )
  })

  test('pictures from elsewhere are not loaded', () => {
    expect(shown('![x](https://a.example/p.png)')).not.toContain('<img')
  })
})
