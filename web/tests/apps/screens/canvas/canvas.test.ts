import { describe, expect, it } from 'vitest'
import type { Sandbox, ScreenData } from '@outlast/sdk'
import { whoMoved } from '@/apps/screens/canvas/movers'
import { mergeNodes, settled, type ScreenNode } from '@/apps/screens/canvas/canvas-nodes'
import { boundsOf, freePlace, GAP, inReadingOrder, tidy } from '@/apps/screens/canvas/placement'
import { lookOfScreen, openingOf } from '@/apps/screens/canvas/screen-state-text'
import { sizeOf } from '@/apps/screens/canvas/screen-sizes'
import { withScreen } from '@/apps/screens/canvas/screens'

const screen = (more: Partial<ScreenData> = {}): ScreenData => ({
  id: 'scr_1',
  project_id: 'prj_1',
  thread_id: 'thr_1',
  workspace_id: 'wsp_1',
  title: 'Pricing',
  template: 'vite',
  theme: 'default',
  theme_tokens: null,
  x: 0,
  y: 0,
  width: 1280,
  height: 800,
  files: [],
  problems: [],
  trouble: null,
  picture_id: null,
  pictured_at: null,
  state: 'ready',
  active_run_id: null,
  sandbox_id: null,
  preview_url: null,
  created_by: 'usr_1',
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  ...more,
})

const sandbox = (state: Sandbox['state'], server?: Sandbox['services'][number]['state']) =>
  ({ state, services: server === undefined ? [] : [{ name: 'dev', port: 3000, state: server }] }) as unknown as Sandbox

const later = '2026-01-01T00:00:05Z'
const nobody = new Map<string, number>()

describe('nodes of the canvas', () => {
  const one = screen()
  const other = screen({ id: 'scr_2', x: 1400 })
  const nodes = mergeNodes([], [one, other], nobody, 'scr_2')

  it('begin where their screens lie, the open one selected', () => {
    expect(nodes.map(({ position, selected }) => [position.x, selected])).toEqual([
      [0, false],
      [1400, true],
    ])
  })
  it('stay the same objects when nothing changed, so that nothing is drawn anew', () => {
    expect(mergeNodes(nodes, [one, other], nobody, null)).toBe(nodes)
    const after = mergeNodes(nodes, [one, { ...other, title: 'New' }], nobody, null)
    expect(after[0]).toBe(nodes[0])
    expect(after[1]?.data.screen.title).toBe('New')
    expect(after[1]?.selected).toBe(true)
  })
  it('go where somebody else moved them', () => {
    const after = mergeNodes(nodes, [{ ...one, x: 50, y: 60 }, other], nobody, null)
    expect(after[0]?.position).toEqual({ x: 50, y: 60 })
  })
  it('stay under the hand that holds them, and go to the server’s place when it lets go', () => {
    const moved = { ...one, x: 50 }
    const mine: ScreenNode[] = nodes.map((node) => ({ ...node, position: { x: 7, y: 7 } }))
    const after = mergeNodes(mine, [moved, other], new Map([['scr_1', 1]]), null)
    expect(after[0]?.position).toEqual({ x: 7, y: 7 })
    expect(after[0]?.data.screen).toBe(moved)
    expect(settled(after, [moved, other], nobody)[0]?.position).toEqual({ x: 50, y: 0 })
  })
  it('go with their screens', () => {
    expect(mergeNodes(nodes, [other], nobody, null)).toHaveLength(1)
  })
})

describe('news of screens', () => {
  it('an answer that a later event has overtaken changes nothing', () => {
    const now = screen({ x: 9, updated_at: later })
    expect(withScreen([now], screen({ x: 1 }))).toEqual([now])
  })
  it('events keep the address that they leave out while the sandbox is the same', () => {
    const known = screen({ sandbox_id: 'sbx_1', preview_url: 'http://there' })
    const news = screen({ sandbox_id: 'sbx_1', updated_at: later })
    expect(withScreen([known], news)[0]?.preview_url).toBe('http://there')
    expect(withScreen([known], { ...news, sandbox_id: 'sbx_2' })[0]?.preview_url).toBeNull()
  })
  it('tell who else moved a screen, and only that', () => {
    const news = (by: string | null, more: Partial<ScreenData>) =>
      ({ event: 'screen.updated', data: { screen: screen(more), by } }) as Parameters<typeof whoMoved>[0]
    expect(whoMoved(news('usr_2', { x: 5 }), screen(), 'usr_1')).toEqual({ screenId: 'scr_1', by: 'usr_2' })
    expect(whoMoved(news('usr_1', { x: 5 }), screen(), 'usr_1')).toBeNull()
    expect(whoMoved(news(null, { x: 5 }), screen(), 'usr_1')).toBeNull()
    expect(whoMoved(news('usr_2', { title: 'Other' }), screen(), 'usr_1')).toBeNull()
  })
})

describe('places', () => {
  const size = { width: 400, height: 300 }
  it('a new screen lies where it is wanted when that is free', () => {
    expect(freePlace(size, { x: 0, y: 0 }, [])).toEqual({ x: -200, y: -150, ...size })
  })
  it('else beside what is there, touching nothing', () => {
    const there = { x: -200, y: -150, ...size }
    const { x, y } = freePlace(size, { x: 10, y: 0 }, [there])
    const apart = Math.max(Math.abs(x - there.x) - size.width, Math.abs(y - there.y) - size.height)
    expect(apart).toBeGreaterThanOrEqual(GAP - 1)
  })
  it('tidying lays rows out in reading order without changing who comes first', () => {
    const screens = [
      { id: 'b', x: 903, y: 20, ...size },
      { id: 'a', x: 0, y: 0, ...size },
      { id: 'c', x: 40, y: 700, ...size },
    ]
    expect(inReadingOrder(screens).map(({ id }) => id)).toEqual(['a', 'b', 'c'])
    const places = tidy(screens)
    expect(places.get('a')).toEqual({ x: 0, y: 0 })
    expect(places.get('b')).toEqual({ x: size.width + GAP, y: 0 })
    expect(places.get('c')).toEqual({ x: 0, y: size.height + GAP })
    expect(tidy([]).size).toBe(0)
  })
  it('know the devices’ sizes and the box around all', () => {
    expect(sizeOf({ width: 390, height: 844 })).toBe('phone')
    expect(sizeOf(size)).toBeNull()
    expect(boundsOf([])).toBeNull()
    expect(boundsOf([{ x: 5, y: 5, ...size }])).toEqual({ x: 5, y: 5, ...size })
  })
})

describe('what a badge says', () => {
  const look = (more: Partial<ScreenData>, known: Partial<Parameters<typeof lookOfScreen>[1]> = {}) =>
    lookOfScreen(screen(more), { sandbox: undefined, building: undefined, opening: false, ...known })

  it('names the step on the way to a running app', () => {
    const building = { kind: 'building' as const, text: '', detail: 'npm install' }
    expect(openingOf(undefined, undefined)).toBe('asleep')
    expect(openingOf(undefined, building)).toBe('building')
    expect(openingOf(sandbox('resuming'), undefined)).toBe('sandbox')
    expect(openingOf(sandbox('ready', 'starting'), undefined)).toBe('server')
    expect(openingOf(sandbox('ready', 'healthy'), undefined)).toBe('ready')
    expect(openingOf(sandbox('ready', 'failed'), undefined)).toBe('failed')
    expect(look({}, { building, opening: true })).toMatchObject({ name: 'building', detail: 'npm install' })
  })
  it('says what the run does, in its own words where it is followed', () => {
    const awake = sandbox('ready', 'healthy')
    expect(look({ state: 'working' }, { sandbox: awake }).label).toBe('Working…')
    expect(look({ state: 'working' }, { sandbox: awake, words: 'Writing…' }).label).toBe('Writing…')
    expect(look({ state: 'waiting' }).label).toBe('Waiting for you')
    expect(look({ state: 'problems', problems: ['a', 'b'] })).toMatchObject({ label: '2 problems', detail: 'a\nb' })
  })
  it('tells a sleeping app from one that runs and from one that cannot', () => {
    expect(look({}).name).toBe('asleep')
    expect(look({}, { opening: true }).name).toBe('starting')
    expect(look({}, { sandbox: sandbox('ready', 'healthy') }).name).toBe('ready')
    expect(look({}, { sandbox: sandbox('ready', 'failed') }).name).toBe('server-failed')
    expect(look({ trouble: 'No room' }, { opening: true })).toMatchObject({ name: 'server-failed', detail: 'No room' })
    expect(look({ state: 'new' }).name).toBe('new')
  })
})
