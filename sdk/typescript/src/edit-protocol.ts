/**
 * The protocol between the page around a screen's frame and the script inside it
 * (`templates/shared/outlast/bridge.js`).
 *
 * Both sides check the sender of a message: this side the frame's window and origin, the script its parent window.
 * Messages from the frame come from an app that an agent wrote: they are parsed here, bounded, and trusted only about
 * the look of their own page.
 */
import type { ThemeTokens } from './api.gen.ts'

export const FRAME_VERSION = 1

/** The mark that selects an element: where it is written (`loc`), or where its component is used (`use`). */
export type ElementAim = 'loc' | 'use'

/** The preview of unsaved changes, on every element of the page with this mark. */
export interface ElementPreview {
  aim: ElementAim
  mark: string
  /** Classes to remove from the page's element, and to add. */
  remove: string[]
  add: string[]
  /** Inline styles, for classes that the page's style sheet does not know yet. */
  styles: Record<string, string>
  text?: string
  attributes?: Record<string, string>
}

/** A property of an element's preview, to find the class in `tries` that matches it. */
export interface StyleCheck {
  property: string
  /** The properties that the preview sets inline. */
  shown: string[]
  /** Declarations of a class, the preferred one first. */
  tries: Record<string, string>[]
}

export type ElementStep = 'parent' | 'child' | 'previous' | 'next'

export type FrameCommand =
  /** The script answers `ready`. */
  | { outlast: 'hello' }
  /** Turns choosing elements by clicks on or off; `scale` is that of the frame. */
  | { outlast: 'edit'; on: boolean; scale: number }
  | { outlast: 'select'; at?: number; step?: ElementStep; aim?: ElementAim; mark?: string; clear?: boolean }
  /** All unsaved previews; `kept` are the marks whose former preview is in the source now. */
  | { outlast: 'previews'; items: ElementPreview[]; kept: string[] }
  /** The script answers `measured`, since version 2. */
  | { outlast: 'measure'; id: string; aim: ElementAim; mark: string; checks: StyleCheck[] }
  /** Shows a theme without saving it; null restores the screen's theme. */
  | { outlast: 'theme'; tokens: ThemeTokens | null }
  /** The script answers `captured`. */
  | { outlast: 'capture'; id: string }

/** An ancestor, or the element itself. */
export interface Crumb {
  label: string
  loc: string | null
  use: string | null
}

export type ElementBox = Pick<DOMRect, 'x' | 'y' | 'width' | 'height'>

/** The chosen element as the page shows it. */
export interface ElementReport {
  loc: string | null
  use: string | null
  tag: string
  label: string
  /** Its class attribute without the effect of previews. */
  classes: string
  /** Its text, if it contains only text. */
  text: string | null
  image: { src: string; alt: string } | null
  rect: ElementBox
  /** Computed values by property. */
  styles: Record<string, string>
  /** From the outermost ancestor with a mark to the element itself. */
  path: Crumb[]
  /** The number of elements of the page with the same mark. */
  count: number
}

export type ReportReason = 'click' | 'key' | 'command' | 'update'

export type FrameReport =
  /** `fresh`: a page has just loaded; otherwise the response to `hello`. */
  | { outlast: 'ready'; version: number; path: string; fresh: boolean }
  | { outlast: 'palette'; tokens: Record<string, string>; dark: boolean }
  | { outlast: 'element'; element: ElementReport | null; why: ReportReason }
  | { outlast: 'hover'; label: string | null }
  /** Escape was pressed with nothing chosen. */
  | { outlast: 'leave' }
  /** An element with a preview has moved in the source. */
  | { outlast: 'moved'; aim: ElementAim; from: string; to: string }
  /** For each check the index in its `tries`, or -1 if none fits. */
  | { outlast: 'measured'; id: string; found: number[] }
  | { outlast: 'captured'; id: string; label: string; html: string; css: string; loc: string | null }
  | { outlast: 'error'; kind: 'error' | 'rejection'; message: string; source: string; line: number; stack: string }

/** Sends a command to the page in a frame. */
export function tellFrame(frame: HTMLIFrameElement | null, origin: string | null, message: FrameCommand): void {
  if (frame === null || origin === null) return
  frame.contentWindow?.postMessage({ ...message, v: FRAME_VERSION }, origin)
}

/** Calls back for every report of the page in a frame. Returns a function that stops this. */
export function listenToFrame(
  frame: HTMLIFrameElement,
  origin: string,
  onReport: (report: FrameReport) => void,
): () => void {
  const receive = (event: MessageEvent) => {
    if (event.source === null || event.source !== frame.contentWindow || event.origin !== origin) return
    const report = readReport(event.data)
    if (report !== null) onReport(report)
  }
  addEventListener('message', receive)
  return () => removeEventListener('message', receive)
}

const LONG = 4_000
const CAPTURE = 60_000
const MANY = 80

/** Parses a report; null for any other message. */
export function readReport(data: unknown): FrameReport | null {
  if (!isRecord(data)) return null
  switch (data['outlast']) {
    case 'ready':
      return { outlast: 'ready', version: number(data['v']), path: text(data['path']), fresh: data['fresh'] === true }
    case 'palette':
      return { outlast: 'palette', tokens: texts(data['tokens']), dark: data['dark'] === true }
    case 'element': {
      const element = data['element'] === null ? null : readElement(data['element'])
      return element === undefined ? null : { outlast: 'element', element, why: why(data['why']) }
    }
    case 'hover':
      return { outlast: 'hover', label: textOrNull(data['label']) }
    case 'leave':
      return { outlast: 'leave' }
    case 'moved':
      return { outlast: 'moved', aim: aim(data['aim']), from: text(data['from']), to: text(data['to']) }
    case 'measured': {
      const found = Array.isArray(data['found']) ? data['found'].slice(0, MANY).map(number) : []
      return { outlast: 'measured', id: text(data['id']), found }
    }
    case 'captured':
      return {
        outlast: 'captured',
        id: text(data['id']),
        label: text(data['label'], 200),
        html: text(data['html'], CAPTURE),
        css: text(data['css'], CAPTURE),
        loc: textOrNull(data['loc']),
      }
    case 'error':
      return {
        outlast: 'error',
        kind: data['kind'] === 'rejection' ? 'rejection' : 'error',
        message: text(data['message'], 2_000),
        source: text(data['source'], 500),
        line: number(data['line']),
        stack: text(data['stack']),
      }
    default:
      return null
  }
}

function readElement(data: unknown): ElementReport | undefined {
  if (!isRecord(data)) return undefined
  const loc = textOrNull(data['loc'])
  const use = textOrNull(data['use'])
  if (loc === null && use === null) return undefined
  const image = isRecord(data['image']) ? { src: text(data['image']['src']), alt: text(data['image']['alt']) } : null
  const rect = isRecord(data['rect']) ? data['rect'] : {}
  return {
    loc,
    use,
    tag: text(data['tag'], 60),
    label: text(data['label'], 60),
    classes: text(data['classes']),
    text: data['text'] === null ? null : text(data['text'], 10_000),
    image,
    rect: { x: number(rect['x']), y: number(rect['y']), width: number(rect['width']), height: number(rect['height']) },
    styles: texts(data['styles']),
    path: Array.isArray(data['path']) ? data['path'].slice(0, MANY).map(readCrumb) : [],
    count: Math.max(1, number(data['count'])),
  }
}

function readCrumb(data: unknown): Crumb {
  const crumb = isRecord(data) ? data : {}
  return { label: text(crumb['label'], 60), loc: textOrNull(crumb['loc']), use: textOrNull(crumb['use']) }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const text = (value: unknown, most = LONG): string => (typeof value === 'string' ? value.slice(0, most) : '')
const textOrNull = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? text(value, 600) : null
const number = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0)
const aim = (value: unknown): ElementAim => (value === 'use' ? 'use' : 'loc')
const WHYS: readonly ReportReason[] = ['click', 'key', 'command', 'update']
const why = (value: unknown): ReportReason => WHYS.find((one) => one === value) ?? 'update'

function texts(value: unknown): Record<string, string> {
  if (!isRecord(value)) return {}
  const pairs = Object.entries(value).slice(0, 200)
  return Object.fromEntries(pairs.map(([name, one]) => [name.slice(0, 80), text(one)]))
}
