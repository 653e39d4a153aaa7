/** Requests the colours of code from a worker, so that the page stays responsive. */
import type { colour, Token } from './highlighter'

type Lines = Token[][] | null

interface Question {
  id: number
  code: string
  language: string
}

interface Answer {
  id: number
  lines: Lines
}

/** The common interface of a worker, its global scope and the two ends of a channel. */
interface Port {
  postMessage: (message: Question | Answer) => void
  onmessage: ((event: MessageEvent) => unknown) | null
}

type WorkerPort = Port & Partial<Pick<Worker, 'onerror'>>

/** Answers every request on the port; code that cannot be coloured gets null. */
export function answerOn(port: Port, find: typeof colour): void {
  port.onmessage = async ({ data: { id, code, language } }: MessageEvent<Question>) => {
    const lines = await find(code, language).catch(() => null)
    port.postMessage({ id, lines })
  }
}

/** One worker, started with the first request. If it cannot start or fails as a whole, it is not restarted: all code
 * stays plain until the page is reloaded. */
export class Colouring {
  readonly #start: () => WorkerPort
  #port: WorkerPort | null = null
  #failed = false
  #asked = 0
  readonly #waiting = new Map<number, (lines: Lines) => void>()

  constructor(start: () => WorkerPort) {
    this.#start = start
  }

  /** Lines of coloured pieces; null for an unknown language or without a worker. Never rejects. */
  colour(code: string, language: string): Promise<Lines> {
    return new Promise((resolve) => {
      const id = (this.#asked += 1)
      this.#waiting.set(id, resolve)
      try {
        this.#open()?.postMessage({ id, code, language })
      } catch {
        this.#fail()
      }
      if (this.#failed) this.#settle({ id, lines: null })
    })
  }

  #open(): WorkerPort | null {
    if (this.#failed || this.#port !== null) return this.#port
    this.#port = this.#start()
    this.#port.onmessage = ({ data }: MessageEvent<Answer>) => this.#settle(data)
    this.#port.onerror = () => this.#fail()
    return this.#port
  }

  #settle({ id, lines }: Answer): void {
    this.#waiting.get(id)?.(lines)
    this.#waiting.delete(id)
  }

  #fail(): void {
    this.#failed = true
    this.#port = null
    for (const id of [...this.#waiting.keys()]) this.#settle({ id, lines: null })
  }
}

export const colouring = new Colouring(
  () => new Worker(new URL('./highlighter.worker.ts', import.meta.url), { type: 'module' }),
)
