/** Unsaved text, kept by this browser so that a reload, a crash or an error loses nothing. Each tab has its own drafts;
 * those of a closed tab are recovered for the same person. */
import type { Sent } from './editor-session'

interface KeptDraft {
  /** The text that the draft started from. */
  base: string
  text: string
  /** The place of a block that the server does not have yet. */
  place: { sectionId: string; after: string | null } | null
  /** The part that was sent and is not answered yet. */
  sent?: Sent | null
  at: number
}

const ROOT = 'outlast.document-draft.'
const LONGEST_MS = 30 * 24 * 3600 * 1000
/** Held while a tab takes over the drafts of closed tabs, so that only one tab gets them. */
const TAKING = 'outlast.drafts'
const tabLock = (tab: string): string => `outlast.drafts.${tab}`

/** Missing if the page was not loaded over a secure connection: then every other tab counts as closed. */
const locks = (): LockManager | undefined => (globalThis.navigator as Partial<Navigator> | undefined)?.locks

/** The drafts of one person in one tab. A tab lives as long as it holds its lock: until its page is closed. */
export class DraftStorage {
  constructor(
    readonly userId: string,
    readonly tab: string = crypto.randomUUID(),
  ) {
    locks()
      ?.request(tabLock(tab), () => new Promise(() => undefined))
      .catch(() => undefined)
  }

  #name = (documentId: string, key: string): string => `${ROOT}${this.userId}.${this.tab}.${documentId}.${key}`

  keep(documentId: string, key: string, draft: KeptDraft): void {
    try {
      localStorage.setItem(this.#name(documentId, key), JSON.stringify(draft))
    } catch {
      // The browser's storage is full or disabled: the text is still in the page and about to be saved.
    }
  }

  drop = (documentId: string, key: string): void => localStorage.removeItem(this.#name(documentId, key))

  /** This tab's drafts of a document, with those of closed tabs, which become this tab's. Of several drafts of the same
   * block, the others wait until the newest is saved or discarded. Expired drafts are deleted. */
  async found(documentId: string): Promise<Map<string, KeptDraft>> {
    const all = locks()
    if (all === undefined) return this.#take(documentId, new Set())
    return all.request(TAKING, async () => {
      const { held = [] } = await all.query()
      return this.#take(documentId, new Set(held.map(({ name }) => name)))
    })
  }

  #take(documentId: string, held: ReadonlySet<string | undefined>): Map<string, KeptDraft> {
    const stored = everyDraft().toSorted((one, other) => other.draft.at - one.draft.at)
    const mine = stored.filter((one) => one.user === this.userId && one.document === documentId)
    const drafts = new Map(mine.filter(({ tab }) => tab === this.tab).map(({ key, draft }) => [key, draft]))
    for (const { name, tab, key, draft } of mine) {
      if (tab === this.tab || held.has(tabLock(tab)) || drafts.has(key)) continue
      drafts.set(key, draft)
      this.keep(documentId, key, draft)
      localStorage.removeItem(name)
    }
    return drafts
  }
}

interface Named {
  name: string
  user: string
  tab: string
  document: string
  key: string
  draft: KeptDraft
}

function everyDraft(): Named[] {
  const names = Array.from({ length: localStorage.length }, (_, at) => localStorage.key(at) ?? '')
  return names.flatMap((name) => {
    if (!name.startsWith(ROOT)) return []
    const [user = '', tab = '', document = '', ...rest] = name.slice(ROOT.length).split('.')
    const draft = parseDraft(localStorage.getItem(name) ?? '')
    if (draft !== null && Date.now() - draft.at < LONGEST_MS)
      return [{ name, user, tab, document, key: rest.join('.'), draft }]
    localStorage.removeItem(name)
    return []
  })
}

const storages = new Map<string, DraftStorage>()

/** The drafts of a person in this tab. */
export function draftStorageOf(userId: string): DraftStorage {
  const storage = storages.get(userId) ?? new DraftStorage(userId)
  storages.set(userId, storage)
  return storage
}

function parseDraft(text: string): KeptDraft | null {
  try {
    const value = JSON.parse(text) as KeptDraft
    return typeof value.text === 'string' && typeof value.base === 'string' ? value : null
  } catch {
    return null
  }
}
