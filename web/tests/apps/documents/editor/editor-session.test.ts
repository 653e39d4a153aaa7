import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Conflict, Gone, Unreachable, type BlockData, type DocumentChange, type DocumentStore } from '@outlast/sdk'
import { DraftStorage } from '@/apps/documents/editor/drafts'
import { deleteSection, isUnseen } from '@/apps/documents/section-deletion'
import { joinAbove } from '@/apps/documents/use-row-moves'
import { NO_SECTION, EditorSession } from '@/apps/documents/editor/editor-session'

const problem = (code: string, status: number, fields: Record<string, unknown> = {}) => ({
  code,
  status,
  detail: code,
  fields,
})

/** A server with one block, as far as a session can tell; `refuse` is thrown by the next change. */
class Fake {
  blocks: Record<string, Partial<BlockData>> = { blk_1: { id: 'blk_1', section_id: 'sec_1', markdown: 'Old words.' } }
  sent: DocumentChange[] = []
  refuse: Error | null = null
  made: Record<string, string> = {}
  /** What the server makes of a text. */
  answer = (text: string) => text
  hold: Promise<void> | null = null
  get = () => ({
    content: {
      version: 1,
      blocks: this.blocks,
      order: ['sec_1'],
      sections: { sec_1: { heading: 'Plan', blocks: Object.keys(this.blocks) } },
    },
  })
  idOf = (key: string) => this.made[key] ?? key
  tell = () => undefined
  keys: (string | undefined)[] = []
  change = async ([change]: DocumentChange[], _?: string, idempotencyKey?: string) => {
    if (change === undefined) throw new Error('nothing')
    this.keys.push(idempotencyKey)
    this.sent.push(change)
    if (this.hold !== null) await this.hold
    const refusal = this.refuse
    this.refuse = null
    if (refusal !== null) throw refusal
    if (change.op === 'insert_block') this.made[change.ref ?? ''] = 'blk_2'
    const id = change.op === 'insert_block' ? 'blk_2' : change.op === 'edit_block' ? change.block_id : ''
    const text = 'markdown' in change ? (change.markdown ?? '') : ''
    this.blocks[id] = { id, section_id: 'sec_1', markdown: this.answer(text), version: 2 }
    return { version: 2, made: this.made, blocks: [this.blocks[id]], sections: [], removed: [] }
  }
}

const kept = new Map<string, string>()
beforeEach(() => {
  vi.useFakeTimers()
  kept.clear()
  held.clear()
  vi.stubGlobal('navigator', {
    locks: {
      request: async (name: string, call: () => Promise<unknown>) => {
        held.add(name)
        const answer = await call()
        held.delete(name)
        return answer
      },
      query: () => Promise.resolve({ held: [...held].map((name) => ({ name })) }),
    },
  })
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
    key: (at: number) => [...kept.keys()][at] ?? null,
    get length() {
      return kept.size
    },
  })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** The locks of a browser's tabs, by name. */
const held = new Set<string>()
/** The document opened in another tab, or after a reload. */
const visited = (fake = new Fake(), user = 'usr_1', tab = 'there') =>
  new EditorSession(fake as unknown as DocumentStore, 'doc_1', new DraftStorage(user, tab))

const begin = () => {
  const fake = new Fake()
  const session = new EditorSession(fake as unknown as DocumentStore, 'doc_1', new DraftStorage('usr_1', 'here'))
  session.open('blk_1', 'Old words.')
  return { fake, session }
}
const soon = () => vi.advanceTimersByTimeAsync(0)

describe('the writing session', () => {
  it('saves after a pause, with the text that it started from', async () => {
    const { fake, session } = begin()
    session.type('blk_1', 'New words.')
    expect(session.status('blk_1')?.state).toBe('typed')
    expect(kept.size).toBe(1)
    await vi.advanceTimersByTimeAsync(1600)
    expect(fake.sent).toEqual([{ op: 'edit_block', block_id: 'blk_1', markdown: 'New words.', old: 'Old words.' }])
    expect(session.status('blk_1')?.state).toBe('clean')
    expect(kept.size).toBe(0)
  })

  it('waits with a text that is going to be several blocks until it is left', async () => {
    const { fake, session } = begin()
    session.type('blk_1', 'One.\n\nTwo.')
    await vi.advanceTimersByTimeAsync(5000)
    expect(fake.sent).toEqual([])
    await session.close('blk_1')
    expect(fake.sent).toHaveLength(1)
    expect(session.status('blk_1')).toBeNull()
  })

  it('goes on from what it sent where more was typed meanwhile, and takes over what was merged where nothing was', async () => {
    const { fake, session } = begin()
    let go: () => void = () => undefined
    fake.hold = new Promise((resolve) => (go = resolve))
    fake.answer = (text) => `${text} Theirs.`
    const shown: string[] = []
    session.show('blk_1', (text) => shown.push(text))
    session.type('blk_1', 'Mine.')
    void session.save('blk_1')
    session.type('blk_1', 'Mine, longer.')
    go()
    await soon()
    expect(session.textOf('blk_1')).toBe('Mine, longer.')
    expect(shown).toEqual([])
    await vi.advanceTimersByTimeAsync(1600)
    expect(fake.sent[1]).toMatchObject({ markdown: 'Mine, longer.', old: 'Mine.' })
    expect(shown).toEqual(['Mine, longer. Theirs.'])
    expect(session.baseOf('blk_1')).toBe('Mine, longer. Theirs.')
  })

  it('keeps what is refused, and lets a person put two texts together', async () => {
    const { fake, session } = begin()
    const fields = { current: 'Their words.', wanted: 'My words.', base: 'Old words.', hunks: [] }
    fake.refuse = new Conflict(problem('text_changed', 409, fields))
    session.type('blk_1', 'My words.')
    await session.close('blk_1')
    expect(session.status('blk_1')).toMatchObject({ state: 'conflict', meeting: { current: 'Their words.' } })
    expect(kept.size).toBe(1)
    await session.resolve('blk_1', 'Our words.', 'Their words.')
    expect(fake.sent[1]).toMatchObject({ markdown: 'Our words.', old: 'Their words.' })
    expect(session.unsaved()).toBe(false)
    expect(kept.size).toBe(0)
  })

  it('tries again while the server cannot be reached, and keeps a text whose block is gone', async () => {
    const { fake, session } = begin()
    fake.refuse = new Unreachable(problem('unreachable', 0))
    session.type('blk_1', 'Patience.')
    await session.save('blk_1')
    expect(session.status('blk_1')?.state).toBe('offline')
    fake.refuse = new Gone(problem('not_found', 404))
    await vi.advanceTimersByTimeAsync(3100)
    expect(session.lost()).toEqual(['blk_1'])
    expect(session.textOf('blk_1')).toBe('Patience.')
    const made = session.revive('blk_1', { sectionId: 'sec_1', after: null })
    expect(session.textOf(made ?? '')).toBe('Patience.')
    expect(session.lost()).toEqual([])
  })

  it('sends again exactly what was not answered, also where more was typed since, and then the rest', async () => {
    const { fake, session } = begin()
    const key = session.begin({ sectionId: 'sec_1', after: 'blk_1' })
    session.open(key, '')
    session.type(key, 'Words.')
    fake.refuse = new Unreachable(problem('unreachable', 0))
    await session.save(key)
    session.type(key, 'Words and more.')
    await vi.advanceTimersByTimeAsync(5000)
    expect(fake.sent).toMatchObject([
      { op: 'insert_block', markdown: 'Words.' },
      { op: 'insert_block', markdown: 'Words.' },
      { op: 'edit_block', block_id: 'blk_2', markdown: 'Words and more.', old: 'Words.' },
    ])
    expect(fake.keys[0]).toBe(fake.keys[1])
    expect(new Set(fake.keys).size).toBe(2)
    expect(fake.keys[0]).toMatch(/\w/)
  })

  it('sends again what was not answered after a reload, under the same key', async () => {
    const { fake, session } = begin()
    const key = session.begin({ sectionId: 'sec_1', after: 'blk_1' }, 'Words.')
    fake.refuse = new Unreachable(problem('unreachable', 0))
    await session.save(key)
    const later = new Fake()
    held.clear()
    const fresh = visited(later)
    await fresh.recall()
    await fresh.save(key)
    expect(later.sent).toEqual(fake.sent)
    expect(later.keys).toEqual(fake.keys)
  })

  it('tries again what was not answered although the text is empty now, or many blocks', async () => {
    for (const text of ['', 'One.\n\nTwo.']) {
      const { fake, session } = begin()
      fake.refuse = new Unreachable(problem('unreachable', 0))
      session.type('blk_1', 'Words.')
      await session.save('blk_1')
      session.type('blk_1', text)
      await vi.advanceTimersByTimeAsync(5000)
      expect(fake.sent).toHaveLength(2)
      expect(session.status('blk_1')?.state).toBe('typed')
      expect(session.textOf('blk_1')).toBe(text)
      await session.close('blk_1')
      expect(fake.sent).toHaveLength(3)
    }
  })

  it('puts a text behind the draft of the block above, which ends when its editor closes', async () => {
    const { fake, session } = begin()
    fake.blocks['blk_0'] = { id: 'blk_0', section_id: 'sec_1', markdown: 'Above.' }
    session.open('blk_0', 'Above.')
    fake.refuse = new Conflict(problem('section_locked', 409))
    session.type('blk_0', 'Above, in my words.')
    await session.close('blk_0')
    expect(joinAbove(session, 'blk_0', 'Below.')).toBe('Above, in my words. '.length)
    expect(session.textOf('blk_0')).toBe('Above, in my words. Below.')
    session.open('blk_0', 'Above.')
    await session.close('blk_0')
    expect(fake.sent.at(-1)).toMatchObject({ markdown: 'Above, in my words. Below.', old: 'Above.' })
    expect(session.status('blk_0')).toBeNull()
    expect(kept.size).toBe(0)
  })

  it('leaves two texts apart while somebody has to decide about the one above', async () => {
    const { fake, session } = begin()
    fake.refuse = new Conflict(problem('text_changed', 409, { current: 'Theirs.', wanted: 'Mine.', hunks: [] }))
    session.type('blk_1', 'Mine.')
    await session.close('blk_1')
    expect(joinAbove(session, 'blk_1', 'Below.')).toBeNull()
    expect(joinAbove(session, 'heading:sec_1', 'Below.')).toBeNull()
    expect(session.textOf('blk_1')).toBe('Mine.')
  })

  it('deletes only what its writer saw, and keeps what was typed until the server agrees', async () => {
    const { fake, session } = begin()
    session.type('blk_1', 'Mine.')
    fake.blocks['blk_1'] = { id: 'blk_1', section_id: 'sec_1', markdown: 'Theirs, not shown yet.' }
    fake.refuse = new Conflict(problem('text_changed', 409))
    const removed = session.remove('blk_1')
    expect(kept.size).toBe(1)
    await expect(removed).rejects.toBeInstanceOf(Conflict)
    expect(fake.sent).toEqual([{ op: 'delete_block', block_id: 'blk_1', old: 'Old words.' }])
    expect(session.textOf('blk_1')).toBe('Mine.')
    await session.remove('blk_1')
    expect(session.status('blk_1')).toBeNull()
    expect(kept.size).toBe(0)
  })

  it('deletes a section as it was seen with what one wrote, and says when there is more', async () => {
    const { fake } = begin()
    let saving = 1
    let tell: () => void = () => undefined
    const store = {
      get: () => ({ ...fake.get(), saving }),
      subscribe: (listener: () => void) => ((tell = listener), () => undefined),
      change: fake.change,
    }
    const deleted = deleteSection(store as unknown as DocumentStore, 'sec_1')
    expect(fake.sent).toEqual([])
    fake.refuse = new Conflict(problem('text_changed', 409))
    saving = 0
    tell()
    expect(isUnseen((await deleted.catch((error: Error) => error)) as Error)).toBe(true)
    expect(fake.sent).toEqual([{ op: 'delete_section', section_id: 'sec_1', seen: 1 }])
  })

  it('makes a new block once it has words, and forgets one without', async () => {
    const { fake, session } = begin()
    const key = session.begin({ sectionId: 'sec_1', after: 'blk_1' })
    expect(session.newIn('sec_1')).toEqual([key])
    session.open(key, '')
    await session.close(key)
    expect(session.newIn('sec_1')).toEqual([])
    expect(fake.sent).toEqual([])
    const other = session.begin({ sectionId: 'sec_1', after: 'blk_1' })
    session.open(other, '')
    session.type(other, 'Words.')
    await session.save(other)
    expect(fake.sent).toEqual([
      { op: 'insert_block', section_id: 'sec_1', after: 'blk_1', markdown: 'Words.', ref: other },
    ])
    session.type(other, 'More words.')
    await session.close(other)
    expect(fake.sent[1]).toMatchObject({ op: 'edit_block', block_id: 'blk_2', old: 'Words.' })
  })

  it('finds again after a reload what was not saved', async () => {
    const { session } = begin()
    session.type('blk_1', 'Half a sent')
    held.clear()
    const fresh = visited()
    await fresh.recall()
    expect(fresh.status('blk_1')?.state).toBe('found')
    expect(fresh.textOf('blk_1')).toBe('Half a sent')
    expect(fresh.discard('blk_1')).toBe('Half a sent')
    expect(kept.size).toBe(0)
  })

  it('leaves the drafts of another tab to it while that is open', async () => {
    const { session } = begin()
    session.type('blk_1', 'Half a sent')
    const beside = visited()
    await beside.recall()
    expect(beside.status('blk_1')).toBeNull()
    beside.open('blk_1', 'Old words.')
    beside.type('blk_1', 'Other words.')
    await beside.save('blk_1')
    expect(kept.size).toBe(1)
    held.clear()
    const later = visited(new Fake(), 'usr_1', 'later')
    await later.recall()
    expect(later.textOf('blk_1')).toBe('Half a sent')
  })

  it('keeps drafts from other people, and not for ever', async () => {
    const { session } = begin()
    session.type('blk_1', 'Half a sent')
    held.clear()
    const other = visited(new Fake(), 'usr_2')
    await other.recall()
    expect(other.status('blk_1')).toBeNull()
    expect(kept.size).toBe(1)
    vi.setSystemTime(Date.now() + 31 * 24 * 3600 * 1000)
    const late = visited(new Fake(), 'usr_1', 'late')
    await late.recall()
    expect(late.status('blk_1')).toBeNull()
    expect(kept.size).toBe(0)
  })

  it('goes on in the first block of a document that was typed on while it was made', async () => {
    const { fake, session } = begin()
    fake.blocks = {}
    let go: () => void = () => undefined
    const held = new Promise<void>((resolve) => (go = resolve))
    const store = Object.assign(fake, {
      reload: () => undefined,
      subscribe: () => () => undefined,
      name: (ref: string, id: string) => void (fake.made[ref] = id),
      import: async (markdown: string) => {
        await held
        fake.blocks = { blk_9: { id: 'blk_9', section_id: 'sec_1', markdown, version: 1 } }
        return { version: 1, made: {}, blocks: [fake.blocks['blk_9']], sections: [], removed: [] }
      },
    })
    expect(store).toBe(fake)
    const key = session.begin({ sectionId: NO_SECTION, after: null })
    session.open(key, '')
    session.type(key, 'First')
    void session.save(key)
    await soon()
    session.type(key, 'First words')
    go()
    await vi.advanceTimersByTimeAsync(2000)
    expect(fake.sent).toEqual([{ op: 'edit_block', block_id: 'blk_9', markdown: 'First words', old: 'First' }])
    expect(session.lost()).toEqual([])
  })

  it('moves a new block into the first section once everybody has heard of that', async () => {
    const { fake, session } = begin()
    fake.blocks = {}
    let heard = true
    Object.assign(fake, {
      reload: () => undefined,
      subscribe: () => () => undefined,
      tell: () => (heard = true),
      import: (markdown: string) => {
        fake.blocks = { blk_9: { id: 'blk_9', section_id: 'sec_1', markdown, version: 1 } }
        heard = false
        return Promise.resolve({ version: 1, made: {}, blocks: [fake.blocks['blk_9']], sections: [], removed: [] })
      },
    })
    const first = session.begin({ sectionId: NO_SECTION, after: null }, 'First words')
    const next = session.begin({ sectionId: NO_SECTION, after: first })
    session.open(next, '')
    const moved: boolean[] = []
    session.subscribe(() => void (session.newIn('sec_1').includes(next) && moved.push(heard)))
    void session.save(first)
    await vi.advanceTimersByTimeAsync(2000)
    expect(moved[0]).toBe(true)
  })

  it('waits no more for what a closed document does not tell', async () => {
    const { fake, session } = begin()
    fake.made['blk_1'] = 'blk_1'
    Object.assign(fake, { reload: () => undefined, subscribe: () => () => undefined })
    const change = fake.change
    fake.change = async (...sent) => ({ ...(await change(...sent)), version: 99, sections: [section] })
    const section = { id: 'sec_9', version: 99 } as never
    session.type('blk_1', 'Words.')
    void session.save('blk_1')
    await vi.advanceTimersByTimeAsync(20_000)
    expect(session.status('blk_1')?.state).toBe('clean')
    expect(vi.getTimerCount()).toBe(0)
  })

  it('shows what others wrote only where nothing was typed', () => {
    const { session } = begin()
    const shown: string[] = []
    session.show('blk_1', (text) => shown.push(text))
    session.follow('blk_1', 'Theirs.')
    expect(shown).toEqual(['Theirs.'])
    session.type('blk_1', 'Mine.')
    session.follow('blk_1', 'Theirs again.')
    expect(session.textOf('blk_1')).toBe('Mine.')
    expect(shown).toHaveLength(1)
  })
})
