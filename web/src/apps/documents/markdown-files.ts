/** Reads Markdown from a chosen file. */
import { UNTITLED } from '@/lib/format'

/** The file types that the browser's picker offers. */
export const ACCEPTED = '.md,.markdown,.txt,text/markdown,text/plain'
const MOST_BYTES = 4_000_000

/** The file's text. Throws if it is too large or not text. */
export async function readMarkdown(file: File): Promise<string> {
  if (file.size > MOST_BYTES) throw new Error(`${file.name} is too large. The limit for imports is 4 MB.`)
  const text = await file.text()
  if (text.includes('\0')) throw new Error(`${file.name} is not a text file. Choose a Markdown or text file.`)
  return text.replaceAll('\r\n', '\n').replace(/^\uFEFF/, '')
}

/** The default title of a document: its first heading, else the file's name, else its first words. Pure. */
export function titleOf(markdown: string, fileName: string | null): string {
  const heading = /^#{1,6}[ \t]+(.+?)[ \t#]*$/m.exec(markdown.replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, ''))?.[1]
  const name = fileName?.replace(/\.[a-z]+$/i, '').replaceAll(/[-_]+/g, ' ')
  const words = markdown.trim().split('\n')[0]?.split(/\s+/).slice(0, 8).join(' ')
  const found = [heading, name, words].find((one) => one !== undefined && one.trim() !== '') ?? UNTITLED
  return found
    .replaceAll(/[*_`[\]]/g, '')
    .trim()
    .slice(0, 200)
}
