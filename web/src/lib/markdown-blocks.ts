/**
 * Cuts Markdown that grows into blocks to draw one by one: together they show exactly what the whole text shows. A cut
 * is made only behind an empty line, outside of fences, HTML and lists, in front of a line that is not indented. Where
 * the lines read so far leave a doubt, the text stays in one piece.
 */
import { after, START, type Definition, type Stand } from './markdown-lines'

/**
 * Reads one text as it grows: a text that begins with the one before is read on from its last whole line, so a reading
 * costs what is new and the open block. A link definition works on the whole text: each finished block that uses it
 * gets it in front. Footnotes and definitions in unusual places keep the text whole.
 */
export class BlockReader {
  #text = ''
  #stand: Stand = START
  /** Where the first line begins that is not finished. */
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
    // The last line may still become anything: what it says now counts for this reading only.
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

/** As Markdown compares labels, here also in the middle of a text. */
const normalised = (text: string): string =>
  text.replace(/\s+/g, ' ').replace(/\[ /g, '[').replace(/ \]/g, ']').toLowerCase().toUpperCase()

const LABEL_OVER_LINES = /\[[^\]\n]*\n[^\]]*\]/

/** The block behind those definitions that it may use. */
function withDefinitions(block: string, definitions: readonly Definition[]): string {
  if (definitions.length === 0 || !block.includes('[')) return block
  const said = normalised(block)
  const all = LABEL_OVER_LINES.test(block)
  const used = definitions.filter(({ label }) => all || said.includes(normalised(`[${label}]`)))
  return used.length === 0 ? block : `${used.map(({ line }) => line).join('\n')}\n\n${block}`
}
