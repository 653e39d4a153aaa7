/** Sends a chat's messages. Keeps a refused one, and sends it again with the same key. */
import type { OnBusy, StartRun } from './api.gen.ts'
import { chatError, type ChatError } from './chats.ts'
import type { OutlastClient } from './client.ts'
import type { RunState } from './fold.ts'
import { Store } from './store.ts'

export interface SendOptions {
  modelId?: string
  /** Ids of uploaded attachments. */
  images?: string[]
  onBusy?: OnBusy
}

interface Sending {
  sending: boolean
  refused: ChatError | null
}

interface Attempt {
  body: StartRun
  key: string
}

export class ChatSender extends Store<Sending> {
  #last: Attempt | null = null

  constructor(
    readonly client: Pick<OutlastClient, 'startRun' | 'retry'>,
    readonly threadId: string,
  ) {
    super({ sending: false, refused: null })
  }

  start(): void {}
  stop(): void {}

  /** Rejects if the message could not be saved; the error is also in `refused`. */
  sendMessage = (content: string, { modelId, images = [], onBusy }: SendOptions = {}): Promise<void> =>
    this.#attempt({
      body: {
        content,
        ...(modelId !== undefined && { model: modelId }),
        ...(images.length > 0 && { images }),
        ...(onBusy !== undefined && { on_busy: onBusy }),
      },
      key: crypto.randomUUID(),
    })

  /** Sends the refused message again under its first key, so that it is not saved twice; otherwise repeats the last
   * answer. */
  retryLastMessage = async (runs: Record<string, RunState>): Promise<void> => {
    if (this.#last !== null) return this.#attempt(this.#last)
    const failed = Object.values(runs).findLast(({ status }) => status === 'error' || status === 'cancelled')
    if (failed !== undefined) await this.#watched(this.client.retry(failed.run_id))
  }

  async #attempt(attempt: Attempt): Promise<void> {
    this.#last = attempt
    await this.#watched(this.client.startRun(this.threadId, attempt.body, attempt.key))
    this.#last = null
  }

  async #watched(request: Promise<unknown>): Promise<void> {
    this.patch({ sending: true, refused: null })
    try {
      await request
    } catch (error) {
      this.patch({ refused: chatError(error as Error) })
      throw error
    } finally {
      this.patch({ sending: false })
    }
  }
}
