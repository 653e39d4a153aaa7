/** Markdown blocks that consist of a single fence, closed or still growing. Pure. */

const OPENING = /^(`{3,}|~{3,})[ \t]*([\w+#.-]*)[ \t]*\n/

interface FencedCode {
  language: string
  text: string
}

/** The code of a block that is a single fence without indentation; null for every other block. An open fence may end
 * with a line that will close it. */
export function fencedCode(block: string): FencedCode | null {
  const opening = OPENING.exec(block)
  if (opening === null || block.includes('\r')) return null
  const [head, fence = '', language = ''] = opening
  const rest = block.slice(head.length).replace(/\n+$/, '')
  const at = closingAt(rest, fence)
  if (at === -1) return { language: language === '' ? 'text' : language, text: rest }
  // Text behind the closing fence belongs to another block.
  const end = rest.indexOf('\n', at)
  if (end !== -1 && rest.slice(end).trim() !== '') return null
  return { language: language === '' ? 'text' : language, text: rest.slice(0, Math.max(0, at - 1)) }
}

/** The start of the line that closes the fence: up to three spaces, at least as many marks, and nothing else. */
function closingAt(text: string, fence: string): number {
  const mark = fence.slice(0, 1)
  const closing = new RegExp(`^ {0,3}${mark}{${fence.length},}[ \\t]*$`, 'm')
  return closing.exec(text)?.index ?? -1
}
