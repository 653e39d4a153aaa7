import { describe, expect, it } from 'vitest'
import type { Message, OutlastEvent, PageAction, PageData, PageVersion } from '@outlast/sdk'
import { LivePage, pageChangeOf, type PageChange } from '@outlast/sdk'
import { busyKeys, withAction } from '@/apps/pages/page-actions'
import { actionText } from '@/apps/pages/action-text'
import { shellAddress } from '@/apps/pages/frame-address'
import { withItem } from '@/lib/queries'
import { asksOf, groupsOf, summaryOf } from '@/apps/pages/history-groups'

const patch = (base: number, version: number, page_id = 'pag_1'): OutlastEvent =>
  ({
    id: `run_1:${version}`,
    event: 'page.patch',
    data: { page_id, base_version: base, version, patches: [], run_id: 'run_1', step: 1 },
  }) as unknown as OutlastEvent

const html = (version: number, reason = 'full'): OutlastEvent =>
  ({
    id: `run_1:${version}`,
    event: 'page.html',
    data: { page_id: 'pag_1', version, html: `<p>${version}</p>`, reason, run_id: null, step: null, by: null },
  }) as unknown as OutlastEvent

describe('a change of a page', () => {
  it('is a patch that begins where the page is', () => {
    expect(pageChangeOf(patch(3, 4), 'pag_1', 3)).toMatchObject({ kind: 'patches', base: 3, version: 4 })
  })
  it('is nothing where the page has it already, or where it is of another page', () => {
    expect(pageChangeOf(patch(3, 4), 'pag_1', 4)).toBeNull()
    expect(pageChangeOf(patch(3, 4, 'pag_2'), 'pag_1', 3)).toBeNull()
    expect(pageChangeOf(html(4), 'pag_1', 4)).toBeNull()
  })
  it('calls for reading the page again where something is missing before it, or numbers are used again', () => {
    expect(pageChangeOf(patch(5, 6), 'pag_1', 3)).toBe('read')
    expect(pageChangeOf(html(2, 'reset'), 'pag_1', 3)).toBe('read')
  })
  it('is whole where the agent or a person wrote it whole', () => {
    expect(pageChangeOf(html(7, 'undo'), 'pag_1', 3)).toEqual({ kind: 'html', version: 7, html: '<p>7</p>' })
  })
})

/** A server whose answers come when the test says so. */
function pageOf() {
  let tell: (event: OutlastEvent) => void = () => undefined
  let begin: () => void = () => undefined
  const asked: { answer: (version: number) => Promise<void>; fail: () => Promise<void>; aborted: () => boolean }[] = []
  const live = new LivePage({
    pageId: 'pag_1',
    read: (signal) =>
      new Promise((resolve, reject) => {
        const settled = () => new Promise<void>((done) => setTimeout(done))
        asked.push({
          answer: (version) => (resolve({ version, html: `<p>${version}</p>` }), settled()),
          fail: () => (reject(new Error('away')), settled()),
          aborted: () => signal.aborted,
        })
      }),
    listen: (listener) => {
      tell = listener
      return () => undefined
    },
    listenSnapshots: (listener) => {
      begin = () => listener('threads', 'thr_1')
      return () => undefined
    },
  })
  const shown: PageChange[] = []
  live.start()
  live.attach((change) => shown.push(change))
  const last = () => asked.at(-1)
  return { live, shown, asked, last, tell: (event: OutlastEvent) => tell(event), begin: () => begin() }
}

describe('a live page', () => {
  it('shows the whole page first, then each patch', async () => {
    const { shown, last, tell } = pageOf()
    await last()?.answer(3)
    tell(patch(3, 4))
    expect(shown.map(({ kind, version }) => `${kind} ${version}`)).toEqual(['html 3', 'patches 4'])
  })
  it('holds what comes while it reads, and shows only what is new', async () => {
    const { shown, last, tell } = pageOf()
    tell(patch(3, 4))
    tell(patch(4, 5))
    await last()?.answer(4)
    expect(shown.map(({ kind, version }) => `${kind} ${version}`)).toEqual(['html 4', 'patches 5'])
  })
  it('reads the page again after a gap', async () => {
    const { shown, asked, last, tell } = pageOf()
    await last()?.answer(3)
    const before = asked.length
    tell(patch(7, 8))
    expect(asked.length).toBe(before + 1)
    await last()?.answer(8)
    expect(shown.at(-1)).toMatchObject({ kind: 'html', version: 8 })
  })
  it('reads the page again once the stream starts, as it may lack what changed before', async () => {
    const { shown, last, begin, tell } = pageOf()
    await last()?.answer(3)
    begin()
    tell(patch(5, 6))
    await last()?.answer(5)
    expect(shown.map(({ kind, version }) => `${kind} ${version}`)).toEqual(['html 3', 'html 5', 'patches 6'])
  })
  it('goes back with a step that was taken back', async () => {
    const { shown, last, tell } = pageOf()
    await last()?.answer(6)
    tell(html(4, 'reset'))
    tell(patch(4, 5))
    await last()?.answer(4)
    expect(shown.slice(-2)).toMatchObject([
      { kind: 'html', version: 4 },
      { kind: 'patches', version: 5 },
    ])
  })
  it('gives a frame that comes later the whole page, asked anew once patches went over it', async () => {
    const { live, asked, last, tell } = pageOf()
    await last()?.answer(3)
    tell(patch(3, 4))
    const before = asked.length
    const seen: PageChange[] = []
    live.attach((change) => seen.push(change))
    expect(asked.length).toBe(before + 1)
    await last()?.answer(4)
    expect(seen).toMatchObject([{ kind: 'html', version: 4 }])
  })
  it('throws away an answer that was asked for before a newer question', async () => {
    const { live, shown, asked } = pageOf()
    const early = asked.at(-1)
    live.reread()
    expect(early?.aborted()).toBe(true)
    await early?.answer(2)
    await asked.at(-1)?.answer(5)
    expect(shown).toMatchObject([{ version: 5 }])
  })
  it('says why it cannot be read', async () => {
    const { live, last } = pageOf()
    await last()?.fail()
    expect(live.get().error?.message).toBe('away')
    live.stop()
  })
})

const action = (id: string, state: PageAction['state']): PageAction => ({
  id,
  page_id: 'pag_1',
  name: 'refresh',
  data: {},
  state,
  by: 'usr_1',
  by_name: 'Ada',
  run_id: null,
  created_at: '2026-01-01T00:00:00Z',
})

describe('actions', () => {
  it('are busy from the click until they are done', () => {
    const sent = new Map([
      ['a', null],
      ['b', 'act_1'],
      ['c', 'act_2'],
      ['d', 'act_3'],
    ])
    expect(busyKeys(sent, [action('act_1', 'taken'), action('act_2', 'done')])).toEqual(['a', 'b', 'd'])
  })
  it('are one each, as last told', () => {
    const all = withAction([action('act_1', 'waiting')], action('act_1', 'done'))
    expect(all).toMatchObject([{ id: 'act_1', state: 'done' }])
    expect(withAction(all, action('act_2', 'waiting')).map(({ id }) => id)).toEqual(['act_2', 'act_1'])
  })
  it('are read with their values', () => {
    expect(actionText({ name: 'refresh', data: {} })).toBe('refresh')
    expect(actionText({ name: 'add', data: { title: 'Milk', count: 2 } })).toBe('add: title Milk, count 2')
  })
})

const version = (number: number, more: Partial<PageVersion> = {}): PageVersion => ({
  page_id: 'pag_1',
  version: number,
  base_version: number - 1,
  kind: 'patches',
  summary: '',
  patches: 2,
  run_id: null,
  by: null,
  created_at: '2026-01-01T00:00:00Z',
  ...more,
})

describe('the history', () => {
  it('has one entry for all that a run made', () => {
    const groups = groupsOf([
      version(5, { run_id: 'run_2' }),
      version(4, { run_id: 'run_2', summary: 'refresh → fetched' }),
      version(3, { kind: 'undo' }),
      version(2, { run_id: 'run_1' }),
      version(1, { run_id: 'run_1', kind: 'full', patches: 0 }),
    ])
    expect(groups.map(({ newest, oldest, kind }) => [newest, oldest, kind])).toEqual([
      [5, 4, 'patches'],
      [3, 3, 'undo'],
      [2, 1, 'full'],
    ])
    expect(groups.map(summaryOf)).toEqual(['Changed: 4 patches', 'Undone: 2 patches', 'Rewritten: 2 patches'])
  })
  it('says what was asked for, in words or by what was done', () => {
    const said = (role: string, text: string, run_id: string | null = null) =>
      ({ role, run_id, parts: [{ type: 'text', id: 'p', step: 0, text }] }) as unknown as Message
    const asks = asksOf([
      said('user', 'Show my issues'),
      said('assistant', '', 'run_1'),
      said('user', '1. Action: close Data: {"issue":"ENG-7"}'),
      said('assistant', '', 'run_2'),
    ])
    expect([...asks]).toEqual([
      ['run_1', 'Show my issues'],
      ['run_2', 'close: issue ENG-7'],
    ])
  })
})

describe('pages', () => {
  it('have a host of their own beside the app', () => {
    const at = { protocol: 'http:', port: '8400' }
    expect(shellAddress('pag_01k', 'pages.preview.localhost', at)).toBe('http://pag-01k.pages.preview.localhost:8400/')
    expect(shellAddress('pag_01k', 'pages.preview.example.com', { protocol: 'https:', port: '' })).toBe(
      'https://pag-01k.pages.preview.example.com/',
    )
  })
  it('are not put back by an answer that a later event overtook', () => {
    const page = (title: string, updated_at: string) => ({ id: 'pag_1', title, updated_at }) as PageData
    const all = withItem([page('new', '2026-01-02T00:00:00Z')], page('old', '2026-01-01T00:00:00Z'))
    expect(all.map(({ title }) => title)).toEqual(['new'])
  })
})
