/** Search hits for display. Pure. */
import type { SearchHit } from '@outlast/sdk'

export interface FileHits {
  path: string
  hits: SearchHit[]
}

/** In the order of each file's first hit. */
export function byFile(hits: readonly SearchHit[]): FileHits[] {
  const files = new Map<string, SearchHit[]>()
  for (const hit of hits) files.set(hit.path, [...(files.get(hit.path) ?? []), hit])
  return [...files].map(([path, hits]) => ({ path, hits }))
}

const SHOWN_BEFORE = 16

/** A line in pieces with the matches marked; text far before the first match is cut off. */
export function marked(line: string, q: string): { text: string; hit: boolean }[] {
  const text = line.trimStart()
  const first = text.toLowerCase().indexOf(q.toLowerCase())
  if (q === '' || first === -1) return [{ text, hit: false }]
  const from = first > SHOWN_BEFORE * 2 ? first - SHOWN_BEFORE : 0
  const pieces: { text: string; hit: boolean }[] = from > 0 ? [{ text: '…', hit: false }] : []
  let rest = text.slice(from)
  for (
    let at = rest.toLowerCase().indexOf(q.toLowerCase());
    at !== -1;
    at = rest.toLowerCase().indexOf(q.toLowerCase())
  ) {
    if (at > 0) pieces.push({ text: rest.slice(0, at), hit: false })
    pieces.push({ text: rest.slice(at, at + q.length), hit: true })
    rest = rest.slice(at + q.length)
  }
  return rest === '' ? pieces : [...pieces, { text: rest, hit: false }]
}
