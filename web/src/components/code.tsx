import { Fragment, memo, useEffect, useState } from 'react'
import type { Token } from '@/lib/highlighter'

const STILL_MS = 150
const MOST_CHARS = 40_000

interface Coloured {
  text: string
  lines: Token[][]
}

/** Code in colours once it stands still; plain while it streams, when it is long, and in unknown languages. */
export const Code = memo(function Code({ text, language }: { text: string; language: string }) {
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
  if (coloured === null || coloured.text !== text) return text
  return coloured.lines.map((line, row) => (
    <Fragment key={row}>
      {row > 0 && '\n'}
      {line.map(({ content, htmlStyle }, at) => (
        <span key={at} data-token style={htmlStyle}>
          {content}
        </span>
      ))}
    </Fragment>
  ))
})
