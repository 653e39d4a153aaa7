import { expect, it } from 'vitest'
import {
  untouched,
  type ElementReport,
  type OutlastClient,
  type PendingElement,
  type SourceElement,
  type StyleChange,
} from '@outlast/sdk'
import { fitClasses, stillFits } from '../../../sdk/typescript/src/edit-classes'

const REPORT: ElementReport = {
  loc: 'app/page.tsx:5:4',
  use: null,
  tag: 'p',
  label: 'p',
  classes: 'p-4',
  text: 'Hello',
  image: null,
  rect: { x: 0, y: 0, width: 10, height: 10 },
  styles: {},
  path: [],
  count: 1,
}
const SOURCE: SourceElement = {
  loc: REPORT.loc ?? '',
  tag: 'p',
  classes: { value: 'p-4', partly: false, refusal: null },
  text: null,
  attributes: {},
  refusal: null,
}

/** A design system with one scale, and a page in which the given tries fit. */
const DESIGN: Record<string, Record<string, string>> = {
  'pt-8': { 'padding-top': 'calc(var(--spacing) * 8)' },
  'text-lg': { 'font-size': 'var(--text-lg)', 'line-height': '1.5' },
  'shadow-md': { 'box-shadow': 'var(--tw-ring-shadow), var(--tw-shadow)' },
}
const client = {
  edits: {
    classes: (_: string, styles: Record<string, string>, names: string[] = []) =>
      Promise.resolve({
        classes: Object.fromEntries(
          Object.entries(styles).map(([property, value]) => [property, value === '32px' ? 'pt-8' : `x-[${value}]`]),
        ),
        refused: {},
        known: Object.fromEntries(names.map((name) => [name, DESIGN[name] ?? null])),
      }),
    exactClasses: (_: string, styles: Record<string, string>) =>
      Promise.resolve({
        classes: Object.fromEntries(Object.entries(styles).map(([property, value]) => [property, `pt-[${value}]`])),
      }),
  },
} as unknown as OutlastClient

const element = (styles: Record<string, StyleChange>): PendingElement => ({
  ...untouched('loc', REPORT.loc ?? '', REPORT, SOURCE),
  styles,
})

async function fitted(styles: Record<string, StyleChange>, found: number[]): Promise<Record<string, StyleChange>> {
  return (await fitClasses(client, 'scr_1', element(styles), () => Promise.resolve(found))).styles
}

const typed = (value: string): StyleChange => ({ value, class: null })
const picked = (name: string, value: string): StyleChange => ({ value, class: name, picked: name })

it.each([
  [0, 'pt-8'],
  [1, 'pt-[32px]'],
  [2, 'pt-[32px]!'],
  [-1, 'pt-8'],
])('saves a typed value as the first class that comes to it: %i gives %s', async (at, name) => {
  expect((await fitted({ 'padding-top': typed('32px') }, [at]))['padding-top']?.class).toBe(name)
})

it('keeps the name where the page does not answer', async () => {
  expect((await fitted({ 'padding-top': typed('32px') }, []))['padding-top']?.class).toBe('pt-8')
})

it('shows a picked class as what the project makes of it, and keeps its name', async () => {
  const change = (await fitted({ 'font-size': picked('text-lg', '1.125rem') }, [0]))['font-size']
  expect(change).toMatchObject({ class: 'text-lg', picked: 'text-lg', css: DESIGN['text-lg'], fitted: true })
})

it('makes a picked class important where another one wins', async () => {
  const change = (await fitted({ 'font-size': picked('text-lg', '1.125rem') }, [1]))['font-size']
  expect(change).toMatchObject({ class: 'text-lg!', picked: 'text-lg' })
})

it('leaves alone what Tailwind puts together out of variables of its own', async () => {
  const change = (await fitted({ 'box-shadow': picked('shadow-md', '0 4px 6px') }, []))['box-shadow']
  expect(change).toMatchObject({ class: 'shadow-md', value: '0 4px 6px' })
  expect(change?.css).toBeUndefined()
})

it('what was found is asked about once more in the page alone, and stands while it fits', async () => {
  const asked: unknown[] = []
  const page = (found: number[]) => (_: PendingElement, checks: unknown[]) => (
    asked.push(...checks),
    Promise.resolve(found)
  )
  const one = element(await fitted({ 'padding-top': typed('32px') }, [0]))
  expect(await stillFits(one, page([0]))).toBe(true)
  expect(await stillFits(one, page([-1]))).toBe(false)
  expect(await stillFits(one, page([])), 'a page that does not answer').toBe(true)
  expect(asked[0]).toEqual({
    property: 'padding-top',
    shown: ['padding-top'],
    tries: [{ 'padding-top': 'calc(var(--spacing) * 8)' }],
  })
  expect(await stillFits(element({ 'padding-top': typed('32px') }), page([0]))).toBe(false)
})
