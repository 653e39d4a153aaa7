/** Splits growing Markdown into blocks that are rendered one by one and together look exactly like the whole text. A
 * split is made only after an empty line, outside of fences, HTML and lists, before a line without indentation. If the
 * lines read so far are ambiguous, the text stays in one piece. */
import { after, START, type Definition, type Stand } from './markdown-lines'

/** Parses one text as it grows: if a text extends the previous one, parsing resumes at its last whole line, so it costs
 * only the new text and the open block. A link definition affects the whole text: each finished block that uses it is
 * prefixed with it. Footnotes and definitions in unusual places keep the text whole. */
export class BlockReader {
  #text = ''
  #stand: Stand = START
  /** The start of the first unfinished line. */
  #read = 0
  #blocks: string[] = []
  #definitions: Definition[] = []
  #finished: string[] = []
  #defined = 0

  /** The blocks of `text`, in order; none for an empty one. */
  read(text: string): string[] {
    if (!text.startsWith(this.#text)) this.#reset()
    this.#text = text
    for (let end = text.indexOf('\n', this.#read); end !== -1; end = text.indexOf('\n', this.#read))
      this.#line(text.slice(this.#read, end), end + 1)
    // The last line may still change its meaning, so its result is used for this reading only.
    const last = after(this.#stand, text.slice(this.#read), this.#read)
    if (last.whole) return text === '' ? [] : [text]
    const { from } = this.#stand
    const open = last.cut ? [text.slice(from, this.#read), text.slice(this.#read)] : [text.slice(from)]
    if (last.definition !== null) {
      const all = [...this.#definitions, last.definition]
      return [...this.#blocks, ...open].filter(isSaid).map((block) => withDefinitions(block, all))
    }
    const defined = open.filter(isSaid).map((block) => withDefinitions(block, this.#definitions))
    return [...this.#finishedBlocks(), ...defined]
  }

  #line(line: string, next: number): void {
    const then = after(this.#stand, line, this.#read)
    if (then.cut) this.#blocks.push(this.#text.slice(this.#stand.from, this.#read))
    if (then.definition !== null) this.#definitions.push(then.definition)
    this.#stand = then
    this.#read = next
  }

  #finishedBlocks(): string[] {
    if (this.#defined !== this.#definitions.length) this.#finished = []
    this.#defined = this.#definitions.length
    for (const block of this.#blocks.slice(this.#finished.length))
      this.#finished.push(withDefinitions(block, this.#definitions))
    return this.#finished
  }

  #reset(): void {
    this.#stand = START
    this.#read = 0
    this.#blocks = []
    this.#definitions = []
    this.#finished = []
    this.#defined = 0
  }
}

const isSaid = (block: string): boolean => block !== ''

/** Normalises a label as Markdown does for comparison, here also in the middle of a text. */
const normaliseLabel = (text: string): string =>
  text.replace(/\s+/g, ' ').replace(/\[ /g, '[').replace(/ \]/g, ']').toLowerCase().toUpperCase()

const LABEL_OVER_LINES = /\[[^\]\n]*\n[^\]]*\]/

/** The block, prefixed with the definitions that it may use. */
function withDefinitions(block: string, definitions: readonly Definition[]): string {
  if (definitions.length === 0 || !block.includes('[')) return block
  const said = normaliseLabel(block)
  const all = LABEL_OVER_LINES.test(block)
  const used = definitions.filter(({ label }) => all || said.includes(normaliseLabel(`[${label}]`)))
  return used.length === 0 ? block : `${used.map(({ line }) => line).join('\n')}\n\n${block}`
}
