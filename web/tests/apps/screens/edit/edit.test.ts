import { describe, expect, it, vi } from 'vitest'
import { twMerge } from 'tailwind-merge'
import {
  classesAfter,
  EditSession,
  editsOf,
  isChanged,
  isStyled,
  previewOf,
  readFrom,
  readReport,
  settle,
  untouched,
  type EditResult,
  type ScreenEdit,
  type OutlastClient,
  type ElementReport,
  type PendingElement,
  type SourceElement,
} from '@outlast/sdk'
import { askPrompt, fixPrompt, wishesOf } from '@/apps/screens/edit/prompts'
import { tokenClass, tokenIn } from '@/apps/screens/edit/color-field'
import { FONT_SIZES, presetIn, RADII } from '@/apps/screens/edit/presets'
import { isClear, shownValue, stepped, typedValue } from '@/apps/screens/edit/css-values'

const MARK = 'app/page.tsx:5:4'
const REPORT: ElementReport = {
  loc: MARK,
  use: null,
  tag: 'p',
  label: 'p',
  classes: 'p-4 text-sm',
  text: 'Hello',
  image: null,
  rect: { x: 0, y: 0, width: 10, height: 10 },
  styles: {},
  path: [],
  count: 1,
}
const value = (text: string | null) => ({ value: text, partly: false, refusal: null })
const SOURCE: SourceElement = {
  loc: MARK,
  tag: 'p',
  classes: value('p-4 text-sm'),
  text: value('Hello'),
  attributes: {},
  refusal: null,
}
const REFUSAL = { code: 'dynamic_class', reason: 'A condition chooses them.', hint: 'Ask the agent.' }
const touched = (change: Partial<PendingElement>, source = SOURCE, report = REPORT): PendingElement => ({
  ...untouched('loc', MARK, report, source),
  ...change,
})
const blue = { 'background-color': { value: '#3b82f6', class: 'bg-[#3b82f6]' } }
const applied = (loc = MARK): EditResult => ({
  status: 'applied',
  loc,
  code: null,
  reason: null,
  hint: null,
  found: null,
})

describe('what is pending', () => {
  it('is nothing for an element that was only looked at', () => {
    expect(isChanged(touched({}), twMerge)).toBe(false)
    expect(editsOf(touched({}), twMerge)).toEqual([])
  })

  it('becomes one edit of the class string, merged with what is there', () => {
    const one = touched({ styles: { ...blue, padding: { value: '8px', class: 'p-2' } } })
    expect(classesAfter(one, twMerge)).toBe('text-sm bg-[#3b82f6] p-2')
    expect(editsOf(one, twMerge)).toEqual([
      { loc: MARK, tag: 'p', kind: 'classes', seen: 'p-4 text-sm', value: 'text-sm bg-[#3b82f6] p-2' },
    ])
  })

  it('counts as changed while its class is not known yet, but asks for nothing that is not', () => {
    const one = touched({ styles: { color: { value: '#123456', class: null } } })
    expect(isChanged(one, twMerge)).toBe(true)
    expect(editsOf(one, twMerge)).toEqual([])
  })

  it('carries words, attributes, added and removed classes', () => {
    const one = touched({ text: 'Bye', attributes: { alt: 'A cat' }, added: { 'mt-4': {} }, removed: ['p-4'] })
    expect(editsOf(one, twMerge).map(({ kind, value }) => [kind, value])).toEqual([
      ['classes', 'text-sm mt-4'],
      ['text', 'Bye'],
      ['attribute', 'A cat'],
    ])
    expect(wishesOf(one)).toEqual(['add the class mt-4', 'remove the class p-4', 'its text: “Bye”', 'alt: A cat'])
  })

  it('goes by what the page shows until the source was read, then by the source', () => {
    const source = { ...SOURCE, tag: 'Button', classes: value('p-4') }
    const early = { ...untouched('use', MARK, REPORT, null), styles: blue }
    expect([early.unread, early.seen.classes, early.tag]).toEqual([true, 'p-4 text-sm', 'p'])
    const read = { ...early, ...readFrom(source) }
    expect([read.unread, read.tag, read.shown]).toEqual([false, 'Button', 'p-4 text-sm'])
    expect(editsOf(read, twMerge)).toMatchObject([{ tag: 'Button', seen: 'p-4', value: 'p-4 bg-[#3b82f6]' }])
    const missing = { ...SOURCE, classes: null, text: null, refusal: { ...REFUSAL, code: 'no_element' } }
    expect(readFrom(missing)).toMatchObject({ unread: true, locked: { code: 'no_element' } })
  })

  it('is shown but not saved where code chooses the classes; its words still are', () => {
    const source = { ...SOURCE, classes: { value: null, partly: false, refusal: REFUSAL } }
    const one = touched({ styles: blue, text: 'Bye' }, source)
    expect(one.locked).toEqual(REFUSAL)
    expect(isStyled(one)).toBe(true)
    expect(editsOf(one, twMerge).map(({ kind }) => kind)).toEqual(['text'])
    expect(previewOf(one, twMerge).styles).toEqual({ 'background-color': '#3b82f6' })
    expect(isChanged({ ...one, text: null }, twMerge)).toBe(true)
  })
})

describe('a preview', () => {
  it('takes away what the new classes replace, and sets inline what no style sheet has yet', () => {
    const size = { 'font-size': { value: '1.5rem', class: 'text-2xl', css: { 'line-height': '1.333' } } }
    expect(previewOf(touched({ styles: { ...blue, ...size } }), twMerge)).toEqual({
      aim: 'loc',
      mark: MARK,
      add: ['bg-[#3b82f6]', 'text-2xl'],
      remove: ['text-sm'],
      styles: { 'background-color': '#3b82f6', 'font-size': '1.5rem', 'line-height': '1.333' },
    })
  })

  it("goes by the page's own classes, which may be more than the source says", () => {
    const report = { ...REPORT, classes: 'inline-flex bg-primary h-9 p-4 text-sm' }
    const { add, remove } = previewOf(touched({ styles: blue }, SOURCE, report), twMerge)
    expect([add, remove]).toEqual([['bg-[#3b82f6]'], ['bg-primary']])
  })
})

describe('after saving', () => {
  it('what was made is done with, under its old mark and its new one', () => {
    const one = touched({ styles: blue, text: 'Bye' })
    const moved = 'app/page.tsx:7:4'
    expect(settle([one], [applied(moved), applied(moved)], twMerge)).toEqual({
      left: [],
      kept: [MARK, moved],
      saved: 2,
    })
  })

  it('what was refused stays with the reason, without what was made of it', () => {
    const one = touched({ styles: blue, text: 'Bye' })
    const refused: EditResult = { ...applied(), status: 'refused', ...REFUSAL }
    const { left, saved } = settle([one], [applied(), refused], twMerge)
    expect(saved).toBe(1)
    expect(left[0]?.problem).toMatchObject({ code: 'dynamic_class', stale: false })
    expect(editsOf(left[0] as PendingElement, twMerge).map(({ kind }) => kind)).toEqual(['text'])
  })

  it('what met a changed source goes by what it found when it is saved again', () => {
    const one = touched({ styles: blue })
    const stale: EditResult = { ...applied(), status: 'stale', code: 'stale', found: 'p-8' }
    const [left] = settle([one], [stale], twMerge).left
    expect(left?.problem?.stale).toBe(true)
    expect(editsOf(left as PendingElement, twMerge)).toMatchObject([{ seen: 'p-8', value: 'p-8 bg-[#3b82f6]' }])
  })
})

describe('what the page in the frame says', () => {
  it('is read when it has the shape of a report, and bounded', () => {
    expect(readReport({ outlast: 'element', why: 'click', element: REPORT })).toEqual({
      outlast: 'element',
      why: 'click',
      element: REPORT,
    })
    const long = readReport({ outlast: 'error', message: 'x'.repeat(10_000), line: 'seven' })
    expect(long).toMatchObject({ outlast: 'error', kind: 'error', line: 0 })
    expect(long?.outlast === 'error' && long.message.length).toBe(2_000)
  })

  it.each([null, 'ready', 7, {}, { outlast: 'evil' }, { outlast: 'element', element: { tag: 'p' } }, []])(
    'is nothing for %o',
    (data) => expect(readReport(data)).toBeNull(),
  )

  it('is told when nothing is chosen any more', () => {
    expect(readReport({ outlast: 'element', element: null })).toEqual({
      outlast: 'element',
      element: null,
      why: 'update',
    })
  })
})

describe('a page that says things unasked', () => {
  it('makes nobody ask the server about elements while no person edits it', async () => {
    const origin = 'http://app.test'
    const contentWindow = { postMessage: () => undefined }
    const box = { getBoundingClientRect: () => ({ width: 10 }), offsetWidth: 10 }
    const inspect = vi.fn(() => Promise.resolve({ items: [SOURCE] }))
    const classes = () => Promise.resolve({ classes: {}, refused: {}, known: {} })
    let say: (data: unknown, from?: string) => void = () => undefined
    vi.stubGlobal('addEventListener', (_: string, hear: (event: unknown) => void) => {
      say = (data, from = origin) => hear({ source: contentWindow, origin: from, data })
    })
    vi.stubGlobal('removeEventListener', () => undefined)
    const session = new EditSession({ edits: { inspect, classes } } as unknown as OutlastClient, 'scr_1')
    session.attach({ contentWindow, ...box } as unknown as HTMLIFrameElement, origin)
    say({ outlast: 'element', element: REPORT, why: 'click' })
    expect(session.get().element).toBeNull()
    session.enable()
    say({ outlast: 'element', element: REPORT, why: 'click' }, 'http://elsewhere.test')
    expect(inspect).not.toHaveBeenCalled()
    say({ outlast: 'element', element: REPORT, why: 'click' })
    expect(session.get().element).toEqual(REPORT)
    expect(inspect).toHaveBeenCalledTimes(1)
    vi.unstubAllGlobals()
  })
})

describe('a change that follows a saving at once', () => {
  it('is saved upon what was saved, though the source was not read again yet', async () => {
    const origin = 'http://app.test'
    const contentWindow = { postMessage: () => undefined }
    const box = { getBoundingClientRect: () => ({ width: 10 }), offsetWidth: 10 }
    let text = 'Hello'
    const read = () => Promise.resolve({ items: [{ ...SOURCE, text: value(text) }] })
    const classes = () => Promise.resolve({ classes: {}, refused: {}, known: {} })
    const inspect = vi.fn(read)
    const save = vi.fn((_: string, edits: ScreenEdit[]) => {
      text = edits[0]?.value ?? ''
      return Promise.resolve({ results: edits.map(() => applied()), checkpoint_id: 'chk_1' })
    })
    let say: (data: unknown) => void = () => undefined
    vi.stubGlobal('addEventListener', (_: string, hear: (event: unknown) => void) => {
      say = (data) => hear({ source: contentWindow, origin, data })
    })
    vi.stubGlobal('removeEventListener', () => undefined)
    const session = new EditSession({ edits: { inspect, save, classes } } as unknown as OutlastClient, 'scr_1')
    session.attach({ contentWindow, ...box } as unknown as HTMLIFrameElement, origin)
    session.enable()
    say({ outlast: 'element', element: REPORT, why: 'click' })
    await vi.waitFor(() => expect(session.get().source).not.toBeNull())
    session.updateText('One')
    inspect.mockImplementationOnce(() => new Promise(() => undefined)) // the reading after the saving takes its time
    await session.save()
    session.updateText('Two')
    await session.save()
    expect(save.mock.calls.map(([, edits]) => edits.map(({ seen, value }) => [seen, value]))).toEqual([
      [['Hello', 'One']],
      [['One', 'Two']],
    ])
    vi.unstubAllGlobals()
  })
})

describe('an element that moves while it is being saved', () => {
  it('is saved where it stands now', async () => {
    const origin = 'http://app.test'
    const contentWindow = { postMessage: () => undefined }
    const box = { getBoundingClientRect: () => ({ width: 10 }), offsetWidth: 10 }
    let say: (data: unknown) => void = () => undefined
    vi.stubGlobal('addEventListener', (_: string, hear: (event: unknown) => void) => {
      say = (data) => hear({ source: contentWindow, origin, data })
    })
    vi.stubGlobal('removeEventListener', () => undefined)
    const inspect = () => Promise.resolve({ items: [{ ...SOURCE, text: value('Hello') }] })
    const classes = () => Promise.resolve({ classes: {}, refused: {}, known: {} })
    const below = MARK.replace(/:(\d+):/, (_, line) => `:${Number(line) + 1}:`)
    const save = vi.fn((_: string, edits: ScreenEdit[]) => {
      const stands = edits.every(({ loc }) => loc === below)
      if (!stands) say({ outlast: 'moved', aim: 'loc', from: MARK, to: below })
      const results = edits.map(() =>
        stands ? applied(below) : ({ ...applied(), status: 'refused', ...REFUSAL } as const),
      )
      return Promise.resolve({ results, checkpoint_id: stands ? 'chk_1' : null })
    })
    const session = new EditSession({ edits: { inspect, save, classes } } as unknown as OutlastClient, 'scr_1')
    session.attach({ contentWindow, ...box } as unknown as HTMLIFrameElement, origin)
    session.enable()
    say({ outlast: 'element', element: REPORT, why: 'click' })
    await vi.waitFor(() => expect(session.get().source).not.toBeNull())
    session.updateText('One')
    await session.save()
    expect(save.mock.calls.map(([, edits]) => edits.map(({ loc }) => loc))).toEqual([[MARK], [below]])
    expect(session.get().pending).toEqual([])
    vi.unstubAllGlobals()
  })
})

describe('values and steps of the theme', () => {
  it('takes plain numbers as pixels and steps with the unit', () => {
    expect([typedValue('16'), typedValue('1.5rem'), typedValue('700', '')]).toEqual(['16px', '1.5rem', '700'])
    expect([shownValue('16.004px'), shownValue('auto')]).toEqual(['16', 'auto'])
    expect([stepped('16', 1), stepped('0.5em', -0.1), stepped('auto', 1)]).toEqual(['17', '0.4em', null])
    expect(['', 'transparent', 'rgba(0, 0, 0, 0)', '#fff'].map(isClear)).toEqual([true, true, true, false])
  })

  it('finds the step that counts among classes', () => {
    expect(presetIn(FONT_SIZES, 'text-sm p-4 text-2xl')?.class).toBe('text-2xl')
    expect(presetIn(RADII, 'md:rounded-lg')).toBeUndefined()
    expect(tokenIn('background-color', 'bg-card bg-primary/50')).toBe('card')
    expect(tokenClass('color', 'muted-foreground')).toBe('text-muted-foreground')
  })
})

describe('what the agent is asked', () => {
  it('names file, line, reason and wishes', () => {
    const one = touched({ styles: blue })
    expect(askPrompt('p', MARK, REFUSAL, wishesOf(one))).toBe(
      'Please change the <p> at app/page.tsx:5. I could not edit it by hand: A condition chooses them.\n' +
        'What I want:\n- background-color: #3b82f6',
    )
    const source = 'http://3000-a.preview.localhost:8400/app/page.tsx'
    expect(fixPrompt({ message: 'x is undefined', source, line: 3, stack: '' })).toContain('app/page.tsx:3')
  })
})
