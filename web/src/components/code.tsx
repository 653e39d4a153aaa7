import { Fragment, memo, useEffect, useState } from 'react'
import type { Token } from '@/lib/highlighter'

const STILL_MS = 150
const MOST_CHARS = 40_000

interface Coloured {
  text: string
  lines: Token[][]
}

/** A text's lines in colours once it stands still; null before, when it is long, and in unknown languages. */
export function useColoured(text: string, language: string): Token[][] | null {
  const [coloured, setColoured] = useState<Coloured | null>(null)
  useEffect(() => {
    if (language === '' || language === 'text' || text.length > MOST_CHARS) return
    let stale = false
    const timer = setTimeout(() => {
      import('@/lib/highlighter')
        .then(({ colour }) => colour(text, language))
        .then((lines) => !stale && lines !== null && setColoured({ text, lines }))
        .catch(() => undefined)
    }, STILL_MS)
    return () => {
      stale = true
      clearTimeout(timer)
    }
  }, [text, language])
  return coloured === null || coloured.text !== text ? null : coloured.lines
}

/** One line's coloured pieces. */
export const Tokens = ({ tokens }: { tokens: Token[] }) =>
  tokens.map(({ content, htmlStyle }, at) => (
    <span key={at} data-token style={htmlStyle}>
      {content}
    </span>
  ))

/** Code in colours once it stands still; plain while it streams, when it is long, and in unknown languages. */
export const Code = memo(function Code({ text, language }: { text: string; language: string }) {
  const lines = useColoured(text, language)
  if (lines === null) return text
  return lines.map((line, row) => (
    <Fragment key={row}>
      {row > 0 && '\n'}
      <Tokens tokens={line} />
    </Fragment>
  ))
})
