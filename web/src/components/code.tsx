import { Fragment, memo, useEffect, useMemo, useRef, useState } from 'react'
import { colouring } from '@/lib/syntax-colours'
import type { Token } from '@/lib/highlighter'

const STILL_MS = 150
const MOST_CHARS = 40_000

interface Coloured {
  text: string
  lines: Token[][]
}

/** The lines of a text in colours once it stops changing; null before that, for long texts and in unknown languages. */
export function useColoured(text: string, language: string): Token[][] | null {
  const [coloured, setColoured] = useState<Coloured | null>(null)
  useEffect(() => {
    if (language === '' || language === 'text' || text.length > MOST_CHARS) return
    let stale = false
    const timer = setTimeout(() => {
      void colouring.colour(text, language).then((lines) => {
        if (!stale && lines !== null) setColoured({ text, lines })
      })
    }, STILL_MS)
    return () => {
      stale = true
      clearTimeout(timer)
    }
  }, [text, language])
  return coloured === null || coloured.text !== text ? null : coloured.lines
}

/** The coloured pieces of one line. */
export const Tokens = ({ tokens }: { tokens: Token[] }) =>
  tokens.map(({ content, htmlStyle }, at) => (
    <span key={at} data-token style={htmlStyle}>
      {content}
    </span>
  ))

const LINES_TOGETHER = 60

/** Some lines of code, coloured once they are visible: a long coloured block has thousands of elements. */
const Piece = memo(function Piece({ text, lines }: { text: string; lines: Token[][] | null }) {
  const box = useRef<HTMLSpanElement>(null)
  const [seen, setSeen] = useState(false)
  useEffect(() => {
    if (lines === null || seen || box.current === null) return
    const observer = new IntersectionObserver((entries) => entries.some((at) => at.isIntersecting) && setSeen(true))
    observer.observe(box.current)
    return () => observer.disconnect()
  }, [lines, seen])
  return (
    <span ref={box} className="block">
      {lines !== null && seen ? <Lines lines={lines} /> : text}
    </span>
  )
})

const Lines = ({ lines }: { lines: Token[][] }) =>
  lines.map((line, row) => (
    <Fragment key={row}>
      {row > 0 && '\n'}
      <Tokens tokens={line} />
    </Fragment>
  ))

/** Splits a text after a fixed number of lines, so that a new line costs the layout of the last piece only. */
function piecesOf(text: string): string[] {
  const pieces: string[] = []
  let from = 0
  let lines = 0
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) {
    lines += 1
    if (lines % LINES_TOGETHER !== 0) continue
    pieces.push(text.slice(from, end + 1))
    from = end + 1
  }
  return from < text.length || pieces.length === 0 ? [...pieces, text.slice(from)] : pieces
}

/** Code in colours once it stops changing; plain while it streams, if it is long, and in unknown languages. */
export const Code = memo(function Code({ text, language }: { text: string; language: string }) {
  const lines = useColoured(text, language)
  const pieces = useMemo(() => piecesOf(text), [text])
  return pieces.map((piece, at) => (
    <Piece key={at} text={piece} lines={lines === null ? null : linesOf(lines, at, at === pieces.length - 1)} />
  ))
})

/** The lines of one piece. Each piece but the last ends with a line break, and so with an empty line. */
function linesOf(lines: Token[][], at: number, isLast: boolean): Token[][] {
  const from = at * LINES_TOGETHER
  return isLast ? lines.slice(from) : [...lines.slice(from, from + LINES_TOGETHER), []]
}
