/** Captured elements inside a message's text: a block that the agent replicates exactly, and that people see as a chip.
 * Pure; `apps/screens/agent/captures.py` parses the same block. */

/** An element of a running app with its computed look. */
export interface CapturedElement {
  /** Its label for people: tag and a few words. */
  label: string
  html: string
  css: string
  /** Its place in the source (`app/page.tsx:12:4`), if known. */
  loc?: string
}

const BEGIN = '[UNITSET_ELEMENT_CAPTURE]'
const END = '[/UNITSET_ELEMENT_CAPTURE]'
const BLOCK = /\[UNITSET_ELEMENT_CAPTURE\]([^]*?)(?:\[\/UNITSET_ELEMENT_CAPTURE\]|$)/g

const neutral = (text: string): string => text.replaceAll(/\[(?=\/?UNITSET_ELEMENT_CAPTURE\])/g, '(')

export function captureBlock({ label, html, css, loc }: CapturedElement): string {
  const facts = [`Element: ${label.replace(/\s+/g, ' ').trim()}`, ...(loc === undefined ? [] : [`Source: ${loc}`])]
  const lines = [...facts, 'HTML:', '```html', html.trim(), '```', 'CSS:', '```css', css.trim(), '```']
  return [BEGIN, neutral(lines.join('\n')), END].join('\n')
}

/** A message's text followed by its elements. */
export const withCaptures = (text: string, elements: readonly CapturedElement[]): string =>
  [text.trim(), ...elements.map(captureBlock)].filter((part) => part !== '').join('\n\n')

interface ShownCapture {
  label: string
  /** The block as it was sent. */
  source: string
}

/** A message's text for display: its own words, and the captured elements. */
export function readCaptures(text: string): { text: string; captures: ShownCapture[] } {
  const captures = [...text.matchAll(BLOCK)].map(([, inner = '']) => ({ label: labelOf(inner), source: inner.trim() }))
  return { text: captures.length === 0 ? text : text.replace(BLOCK, '').trim(), captures }
}

function labelOf(inner: string): string {
  const label = /^\s*Element:\s*(.+)$/m.exec(inner)?.[1]
  const tag = /<([a-z][\w-]*)/i.exec(inner)?.[1]
  return label?.trim() ?? (tag === undefined ? 'Captured element' : `<${tag}>`)
}
