import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  blockOrder,
  contentOf,
  Conflict,
  countEdits,
  DocumentStore,
  foreseen,
  movedTo,
  OutlastClient,
  withChanges,
  withComment,
  withEdits,
  withProposal,
  type BlockData,
  type CommentData,
  type DocumentChange,
  type DocumentChanges,
  type EditData,
  type OutlastEvent,
  type ProposalData,
  type SectionData,
} from '@outlast/sdk'

const block = (id: string, markdown: string, section_id = 'sec_1'): BlockData => ({
  id,
  section_id,
  kind: 'paragraph',
  markdown,
  version: 1,
  editor_kind: 'person',
  editor_id: 'usr_1',
  editor_name: 'Ada',
  updated_at: '',
})
const section = (id: string, blocks: BlockData[]): SectionData => ({
  id,
  document_id: 'doc_1',
  heading: id,
  level: 1,
  version: 1,
  lock: null,
  blocks,
})
const twoSections = () => [
  section('sec_1', [block('a', 'one'), block('b', 'two')]),
  section('sec_2', [block('c', 'three', 'sec_2')]),
]
const edit = (id: string, change: Partial<EditData> = {}): EditData => ({
  id,
  proposal_id: 'pro_1',
  document_id: 'doc_1',
  ordinal: 0,
  op: 'replace',
  block_id: 'a',
  section_id: null,
  after_id: null,
  heading: null,
  level: null,
  old_text: 'one',
  new_text: 'ONE',
  state: 'open',
  applied_text: null,
  decided_by: null,
  decided_by_name: null,
  decided_at: null,
  version: null,
  superseded_by: null,
  reason: '',
  reopened: 0,
  origin_id: null,
  ...change,
})
const proposal = (id: string, edits: EditData[], created_at = '2026-01-01'): ProposalData => ({
  id,
  project_id: 'prj_1',
  document_id: 'doc_1',
  thread_id: 'thr_1',
  message_id: null,
  run_id: 'run_1',
  summary: '',
  state: 'open',
  edits,
  created_at,
})

describe('what is shown until the server answers', () => {
  const content = contentOf(1, twoSections())
  const after = (change: DocumentChange) => foreseen(content, change)

  it('has the text that was written, and leaves every other block the same object', () => {
    const edited = after({ op: 'edit_block', block_id: 'a', markdown: 'new', old: 'one' })
    expect(edited.blocks['a']?.markdown).toBe('new')
    expect(edited.blocks['b']).toBe(content.blocks['b'])
    expect(edited.sections['sec_1']).toBe(content.sections['sec_1'])
  })
  it('has new blocks under the name that was given to them', () => {
    const grown = after({ op: 'insert_block', section_id: 'sec_1', after: 'a', markdown: 'x', ref: 'new' })
    expect(blockOrder(grown)).toEqual(['a', 'new', 'b', 'c'])
  })
  it('has blocks where they were moved, also into another section', () => {
    const moved = after({ op: 'move_block', block_id: 'a', section_id: 'sec_2', after: null })
    expect(blockOrder(moved)).toEqual(['b', 'a', 'c'])
    expect(moved.blocks['a']?.section_id).toBe('sec_2')
  })
  it('is without what was deleted, or emptied', () => {
    expect(blockOrder(after({ op: 'delete_block', block_id: 'a', old: 'one' }))).toEqual(['b', 'c'])
    expect(blockOrder(after({ op: 'edit_block', block_id: 'a', markdown: ' ', old: 'one' }))).toEqual(['b', 'c'])
    expect(blockOrder(after({ op: 'delete_section', section_id: 'sec_1' }))).toEqual(['c'])
    expect(after({ op: 'delete_section', section_id: 'sec_1', seen: 1 })).toBe(content)
  })
  it('has sections where they were moved or made', () => {
    expect(after({ op: 'move_section', section_id: 'sec_2', after: null }).order).toEqual(['sec_2', 'sec_1'])
    const made = after({ op: 'insert_section', after: 'sec_1', heading: 'H', level: 2, markdown: 'x', ref: 'new' })
    expect(made.order).toEqual(['sec_1', 'new', 'sec_2'])
    expect(blockOrder(made)).toEqual(['a', 'b', 'new.text', 'c'])
  })
  it('is unchanged by a change of what is gone', () => {
    expect(after({ op: 'edit_block', block_id: 'gone', markdown: 'x', old: '' })).toBe(content)
    expect(after({ op: 'move_section', section_id: 'gone', after: null })).toBe(content)
  })
})

describe('an order', () => {
  it('has what was moved behind another, first, or last where the other is gone', () => {
    expect(movedTo(['a', 'b', 'c'], 'a', 'b')).toEqual(['b', 'a', 'c'])
    expect(movedTo(['a', 'b', 'c'], 'c', null)).toEqual(['c', 'a', 'b'])
    expect(movedTo(['a', 'b', 'c'], 'a', 'gone')).toEqual(['b', 'c', 'a'])
  })
})

describe('news of proposals', () => {
  it('may come twice and in either order: what was decided stays so', () => {
    const decided = withEdits([proposal('pro_1', [edit('e')])], [edit('e', { state: 'accepted' })])
    expect(decided[0]?.state).toBe('closed')
    const told = withProposal(decided, proposal('pro_1', [edit('e')]))
    expect(told[0]?.edits[0]?.state).toBe('accepted')
  })
  it('are listed oldest first', () => {
    const all = [proposal('p2', [], '2'), proposal('p1', [], '1'), proposal('p3', [], '3')]
    expect(all.reduce<ProposalData[]>(withProposal, []).map(({ id }) => id)).toEqual(['p1', 'p2', 'p3'])
  })
  it('leave proposals that they are not about the same objects', () => {
    const other = proposal('p2', [edit('x')])
    expect(withEdits([other], [edit('e', { state: 'rejected' })])[0]).toBe(other)
  })
  it('are counted by state', () => {
    const edits = [edit('1'), edit('2', { state: 'accepted' }), edit('3', { state: 'accepted' })]
    expect(countEdits(edits)).toEqual({ open: 1, accepted: 2, rejected: 0, superseded: 0 })
  })
})

const comment = (id: string, updated_at: string) =>
  ({ id, document_id: 'doc_1', created_at: id, updated_at, body: updated_at, parent_id: null }) as CommentData

describe('news of comments', () => {
  it('never put an older state in the place of a newer one', () => {
    expect(withComment([comment('1', '5')], comment('1', '4'))[0]?.body).toBe('5')
    expect(withComment([comment('1', '5')], comment('1', '6'))[0]?.body).toBe('6')
  })
})

// --- the store

interface Request {
  path: string
  method: string
  body: Record<string, unknown> | undefined
}

/** A server with one document whose history is kept; answers wait where the test says so. */
class Server {
  readonly states: SectionData[][] = [[], twoSections()]
  readonly asked: Request[] = []
  proposals: ProposalData[] = []
  comments: CommentData[] = []
  /** So often the comments cannot be read. */
  failures = 0
  refuse: object | null = null
  /** While set, answers to changes are held back. */
  held: Promise<void> | null = null
  /** What readers of the document and its changes wait for. */
  heldReads: Promise<void> | null = null
  readonly client = new OutlastClient({ fetch: (url, init) => this.answer(String(url), init ?? {}) })

  get version(): number {
    return this.states.length - 1
  }
  get sections(): SectionData[] {
    return this.states[this.version]!
  }

  /** Somebody writes: what the stream would tell. */
  write(blockId: string, markdown: string): OutlastEvent {
    const next = this.sections.map((one) => ({
      ...one,
      blocks: one.blocks.map((b) => (b.id === blockId ? { ...b, markdown, version: this.version + 1 } : b)),
    }))
    this.states.push(next)
    return this.news()
  }

  insert(sectionId: string, made: BlockData): OutlastEvent {
    this.states.push(
      this.sections.map((one) => (one.id === sectionId ? { ...one, blocks: [...one.blocks, made] } : one)),
    )
    return this.news()
  }

  remove(blockId: string): OutlastEvent {
    this.states.push(this.sections.map((one) => ({ ...one, blocks: one.blocks.filter(({ id }) => id !== blockId) })))
    return this.news()
  }

  news(): OutlastEvent {
    const version = { document_id: 'doc_1', version: this.version, kind: 'edit' }
    return { id: `prj_1:${this.version}`, event: 'version.created', data: { version } } as unknown as OutlastEvent
  }

  since(version: number): DocumentChanges {
    const flat = (at: number) => new Map(this.states[at]!.flatMap(({ blocks }) => blocks).map((one) => [one.id, one]))
    const [before, after] = [flat(version), flat(this.version)]
    return {
      version: this.version,
      made: {},
      sections: [],
      blocks: [...after.values()].filter((one) => before.get(one.id)?.markdown !== one.markdown),
      removed: [...before.keys()].filter((id) => !after.has(id)),
      section_order: null,
      block_order: Object.fromEntries(this.sections.map(({ id, blocks }) => [id, blocks.map((one) => one.id)])),
    }
  }

  async answer(url: string, init: RequestInit): Promise<Response> {
    const { pathname, searchParams } = new URL(url, 'http://server')
    const path = pathname.replace('/v1/', '')
    const method = init.method ?? 'GET'
    const body = typeof init.body === 'string' ? (JSON.parse(init.body) as Record<string, unknown>) : undefined
    this.asked.push({ path, method, body })
    if (path === 'documents/doc_1') {
      const read = { id: 'doc_1', project_id: 'prj_1', version: this.version, sections: this.sections }
      await this.heldReads
      return Response.json(read)
    }
    if (path.endsWith('/comments')) {
      const items = [...this.comments]
      await this.heldReads
      if ((this.failures -= 1) >= 0) return Response.json({ code: 'busy', detail: 'Busy' }, { status: 503 })
      return Response.json({ items, next: null })
    }
    if (path === 'documents/doc_1/proposals') return Response.json({ items: this.proposals, next: null })
    if (path.startsWith('proposals/')) {
      const found = this.proposals.find(({ id }) => path.endsWith(id))
      return Response.json(found ?? { code: 'not_found', detail: 'Gone' }, { status: found === undefined ? 404 : 200 })
    }
    if (method === 'GET') return Response.json(this.since(Number(searchParams.get('since'))))
    await this.held
    if (this.refuse !== null) return Response.json(this.refuse, { status: 409 })
    if (path.startsWith('edits/')) return Response.json(this.decide(path.slice(6), String(body?.['decision'])))
    return Response.json(this.changed(body?.['changes'] as DocumentChange[], body?.['since'] as number | undefined))
  }

  decide(editId: string, decision: string) {
    const state = decision === 'accept' ? ('accepted' as const) : ('rejected' as const)
    this.proposals = withEdits(this.proposals, [edit(editId, { state })])
    return { version: null, edits: [edit(editId, { state })] }
  }

  changed(changes: DocumentChange[], since = this.version): DocumentChanges {
    const made: Record<string, string> = {}
    for (const change of changes) {
      if (change.op === 'edit_block') this.write(change.block_id, change.markdown)
      if (change.op === 'insert_block') {
        const id = `blk_${this.version}`
        made[change.ref ?? ''] = id
        this.insert(change.section_id ?? '', block(id, change.markdown, change.section_id ?? ''))
      }
    }
    return { ...this.since(since), made }
  }
}

const stops: (() => void)[] = []
afterEach(() => stops.splice(0).forEach((stop) => stop()))

async function opened(server = new Server()) {
  const store = new DocumentStore(server.client, 'doc_1')
  stops.push(() => store.stop())
  store.start()
  await vi.waitFor(() => expect(store.get().document).not.toBeNull())
  return { server, store, text: (id: string) => store.get().content.blocks[id]?.markdown }
}

const edited = (id: string, markdown: string, old = ''): DocumentChange[] => [
  { op: 'edit_block', block_id: id, markdown, old },
]

describe('an open document', () => {
  it('reads what is new when the stream tells of a version, and keeps what is not new', async () => {
    const { server, store, text } = await opened()
    const untouched = store.get().content.blocks['b']
    server.client.announce(server.write('a', 'changed'))
    await vi.waitFor(() => expect(text('a')).toBe('changed'))
    expect(store.get().content.blocks['b']).toBe(untouched)
  })

  it('reads once for news that come together or twice', async () => {
    const { server, text } = await opened()
    const events = [server.write('a', '1'), server.write('a', '2'), server.write('a', '3')]
    for (const event of [...events, ...events]) server.client.announce(event)
    await vi.waitFor(() => expect(text('a')).toBe('3'))
    expect(server.asked.filter(({ path }) => path.endsWith('/changes')).length).toBeLessThanOrEqual(2)
  })

  it('misses nothing that happened between its reading and the beginning of the stream', async () => {
    const { server, text } = await opened()
    server.write('a', 'in the gap')
    server.client.announceSnapshot('projects', 'prj_1')
    await vi.waitFor(() => expect(text('a')).toBe('in the gap'))
  })

  it('reads again where the stream began while it was being read', async () => {
    const server = new Server()
    let release = () => {}
    server.heldReads = new Promise((resolve) => (release = resolve))
    const store = new DocumentStore(server.client, 'doc_1')
    stops.push(() => store.stop())
    store.start()
    await vi.waitFor(() => expect(server.asked.length).toBe(3))
    server.write('a', 'meanwhile')
    server.client.announceSnapshot('projects', 'prj_1')
    server.heldReads = null
    release()
    await vi.waitFor(() => expect(store.get().content.blocks['a']?.markdown).toBe('meanwhile'))
  })

  it('keeps what is told of comments while they are being read', async () => {
    const server = new Server()
    server.comments = [comment('c1', '1'), comment('c2', '1')]
    let release = () => {}
    server.heldReads = new Promise((resolve) => (release = resolve))
    const store = new DocumentStore(server.client, 'doc_1')
    stops.push(() => store.stop())
    store.start()
    await vi.waitFor(() => expect(server.asked.length).toBe(3))
    const tell = (event: string, data: object) =>
      server.client.announce({ id: 'prj_1:9', event, data } as unknown as OutlastEvent)
    tell('comment.created', { comment: comment('c3', '2') })
    tell('comment.updated', { comment: comment('c1', '2') })
    tell('comment.deleted', { document_id: 'doc_1', comment_id: 'c2' })
    const lock = { holder_id: 'usr_2', holder_name: 'Bo' }
    tell('lock.acquired', { thread_id: '', section_id: 'sec_1', document_id: 'doc_1', lock })
    release()
    await vi.waitFor(() => expect(store.get().content.sections['sec_1']?.lock?.holder_name).toBe('Bo'))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(store.get().comments.map(({ id, body }) => [id, body])).toEqual([
      ['c1', '2'],
      ['c3', '2'],
    ])
  })

  it('shows the newest reading, whichever answer comes last', async () => {
    const { server, store } = await opened()
    let release = () => {}
    server.heldReads = new Promise((resolve) => (release = resolve))
    store.reload()
    await vi.waitFor(() => expect(server.asked.filter(({ path }) => path.endsWith('/comments'))).toHaveLength(2))
    server.heldReads = null
    server.comments = [comment('c1', '1')]
    store.reload()
    await vi.waitFor(() => expect(store.get().comments).toHaveLength(1))
    release()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(store.get().comments).toHaveLength(1)
  })

  it('reads the comments again that could not be read, also when one writes meanwhile', async () => {
    const server = new Server()
    server.failures = 1
    server.comments = [comment('c1', '1')]
    const { store } = await opened(server)
    await vi.waitFor(() => expect(store.get().error).not.toBeNull())
    const sent = store.change(edited('a', 'mine', 'one'))
    server.client.announce(server.write('b', 'theirs'))
    await sent
    await vi.waitFor(() => expect(store.get().comments).toHaveLength(1), 5000)
    expect(store.get().error).toBeNull()
  })

  it('reads what it missed when it is opened again', async () => {
    const { server, store, text } = await opened()
    store.stop()
    server.write('a', 'while away')
    store.start()
    await vi.waitFor(() => expect(text('a')).toBe('while away'))
  })

  it('hears who holds a section, and who is where', async () => {
    const { server, store } = await opened()
    const lock = { holder_id: 'usr_2', holder_name: 'Bo' }
    const data = { thread_id: '', section_id: 'sec_1', document_id: 'doc_1', lock }
    server.client.announce({ id: 'prj_1:9', event: 'lock.acquired', data } as unknown as OutlastEvent)
    expect(store.get().content.sections['sec_1']?.lock?.holder_name).toBe('Bo')
    const places = { usr_2: 'a' }
    const there = { thread_id: '', project_id: 'prj_1', watching: [], typing: ['usr_2'], places }
    server.client.announcePresence({ ...there, document_id: 'doc_1' })
    server.client.announcePresence({ ...there, document_id: 'doc_2', places: {} })
    expect(store.get().presence.places).toEqual(places)
  })

  it('is gone when it was deleted', async () => {
    const { server, store } = await opened()
    const data = { document_id: 'doc_1' }
    server.client.announce({ id: 'prj_1:9', event: 'document.deleted', data } as unknown as OutlastEvent)
    expect(store.get().gone).toBe(true)
  })

  it('ends as the server has it, whatever order news and answers come in', async () => {
    let seed = 7
    const chance = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648
    const { server, store } = await opened()
    const waiting: OutlastEvent[] = []
    for (let step = 0; step < 120; step++) {
      const at = chance()
      const blocks = server.sections.flatMap((one) => one.blocks.map(({ id }) => id))
      const target = blocks[Math.floor(chance() * blocks.length)] ?? 'a'
      if (at < 0.3) waiting.push(server.write(target, `theirs ${step}`))
      else if (at < 0.4) waiting.push(server.insert('sec_2', block(`x${step}`, 'new', 'sec_2')))
      else if (at < 0.45 && blocks.length > 3) waiting.push(server.remove(target))
      else if (at < 0.6) void store.change(edited(target, `mine ${step}`)).then(() => waiting.push(server.news()))
      else if (at < 0.8) for (const event of waiting.splice(0)) server.client.announce(event)
      else if (at < 0.85) server.client.announceSnapshot('projects', 'prj_1')
      else await new Promise((resolve) => setTimeout(resolve))
    }
    await vi.waitFor(() => {
      for (const event of waiting.splice(0)) server.client.announce(event)
      expect(store.get().saving).toBe(0)
      expect(store.get().content.version).toBe(server.version)
    })
    const { content } = store.get()
    expect(blockOrder(content)).toEqual(server.sections.flatMap((one) => one.blocks.map(({ id }) => id)))
    for (const one of server.sections.flatMap(({ blocks }) => blocks))
      expect(content.blocks[one.id]?.markdown).toBe(one.markdown)
  })
})

describe('what one writes', () => {
  it('is shown at once, and stays when it is saved', async () => {
    const { store, text } = await opened()
    const sent = store.change(edited('a', 'mine', 'one'))
    expect(text('a')).toBe('mine')
    expect(store.get().saving).toBe(1)
    await sent
    await vi.waitFor(() => expect(store.get().saving).toBe(0))
    expect(text('a')).toBe('mine')
  })

  it('stays as it is where somebody else wrote before it, and brings their text along', async () => {
    const { server, store, text } = await opened()
    server.write('b', 'theirs')
    const shown: (string | undefined)[] = []
    store.subscribe(() => shown.push(text('a')))
    await store.change(edited('a', 'mine', 'one'))
    await vi.waitFor(() => expect(store.get().saving).toBe(0))
    expect([text('a'), text('b')]).toEqual(['mine', 'theirs'])
    expect(shown).not.toContain('one')
    expect(server.asked.filter(({ method, path }) => method === 'GET' && path.endsWith('/changes'))).toEqual([])
  })

  it('is taken back where it is refused, and the reason is thrown', async () => {
    const { server, store, text } = await opened()
    server.refuse = { code: 'section_locked', detail: 'Bo holds it', status: 409 }
    const sent = store.change(edited('a', 'mine', 'one'))
    expect(text('a')).toBe('mine')
    await expect(sent).rejects.toBeInstanceOf(Conflict)
    await vi.waitFor(() => expect(text('a')).toBe('one'))
  })

  it('stays over what others write in other blocks meanwhile', async () => {
    const { server, store, text } = await opened()
    let release = () => {}
    server.held = new Promise((resolve) => (release = resolve))
    const sent = store.change(edited('a', 'mine', 'one'))
    server.client.announce(server.write('b', 'theirs'))
    await vi.waitFor(() => expect(text('b')).toBe('theirs'))
    expect(text('a')).toBe('mine')
    release()
    await sent
    await vi.waitFor(() => expect(store.get().content.version).toBe(3))
    expect([text('a'), text('b')]).toEqual(['mine', 'theirs'])
  })

  it('keeps the name of a new block when it gets its id, and later changes may use that name', async () => {
    const { server, store, text } = await opened()
    const ref = 'ref_1'
    const made = store.change([{ op: 'insert_block', section_id: 'sec_1', after: 'b', markdown: 'new', ref }])
    expect(text(ref)).toBe('new')
    const later = store.change(edited(ref, 'newer', 'new'))
    await Promise.all([made, later])
    const id = store.idOf(ref)
    expect(id).toMatch(/^blk_/)
    expect(store.keyOf(id)).toBe(ref)
    await vi.waitFor(() => expect(text(id)).toBe('newer'))
    const sent = server.asked.filter(({ method }) => method === 'POST').map(({ body }) => body?.['changes'])
    expect(sent[1]).toEqual([{ op: 'edit_block', block_id: id, markdown: 'newer', old: 'new' }])
  })
})

describe('a decision', () => {
  const proposed = () => {
    const server = new Server()
    server.proposals = [proposal('pro_1', [edit('e'), edit('f')])]
    return opened(server)
  }

  it('is shown as under way, then as made', async () => {
    const { store } = await proposed()
    await vi.waitFor(() => expect(store.get().proposals).toHaveLength(1))
    const sent = store.decide('e', { decision: 'accept' })
    expect(store.get().deciding).toEqual({ e: 'accept' })
    await sent
    expect(store.get().deciding).toEqual({})
    expect(store.get().proposals[0]?.edits.map(({ state }) => state)).toEqual(['accepted', 'open'])
  })

  it('is taken back where it is refused', async () => {
    const { server, store } = await proposed()
    await vi.waitFor(() => expect(store.get().proposals).toHaveLength(1))
    server.refuse = { code: 'text_changed', detail: 'Somebody was faster', status: 409 }
    await expect(store.decide('e', { decision: 'accept' })).rejects.toMatchObject({ code: 'text_changed' })
    expect(store.get().deciding).toEqual({})
    expect(store.get().proposals[0]?.edits[0]?.state).toBe('open')
  })

  it('of somebody else, made while this page was away, is seen when it comes back', async () => {
    const { server, store } = await proposed()
    await vi.waitFor(() => expect(store.get().proposals).toHaveLength(1))
    store.stop()
    const closed = server.proposals.map((one) => ({
      ...one,
      edits: one.edits.map((e) => ({ ...e, state: 'rejected' as const })),
    }))
    server.proposals = []
    const found = server.answer.bind(server)
    server.answer = (url, init) =>
      url.endsWith('/proposals/pro_1') ? Promise.resolve(Response.json(closed[0])) : found(url, init)
    store.start()
    await vi.waitFor(() => expect(store.get().proposals[0]?.state).toBe('closed'))
  })
})

describe('proposals', () => {
  it('that are no more when the page comes back are shown no more', async () => {
    const server = new Server()
    server.proposals = [proposal('pro_1', [edit('e')])]
    const { store } = await opened(server)
    await vi.waitFor(() => expect(store.get().proposals).toHaveLength(1))
    server.proposals = []
    store.reload()
    await vi.waitFor(() => expect(store.get().proposals).toEqual([]))
  })
})

describe('changes', () => {
  it('that were read from an older version lead to the same content', () => {
    const server = new Server()
    const start = contentOf(1, server.sections)
    server.write('a', 'x')
    const middle = withChanges(start, server.since(1))
    server.insert('sec_2', block('d', 'four', 'sec_2'))
    server.remove('b')
    const whole = server.since(1)
    expect(withChanges(middle, whole)).toEqual(withChanges(start, whole))
    expect(blockOrder(withChanges(middle, whole))).toEqual(['a', 'c', 'd'])
  })
})
