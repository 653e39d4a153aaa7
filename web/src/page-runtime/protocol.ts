/** The messages between the app and a page's frame. The frame's document has an opaque origin, so the app identifies it
 * by its window and accepts only messages of exactly these shapes. Pure. */
import type { PagePatch } from '@outlast/sdk'
import { refusal } from './action-rules'

type FrameTheme = 'light' | 'dark'

/** From the app to the frame. */
export type ToFrame =
  | { outlast: 'page'; type: 'html'; version: number; html: string }
  | { outlast: 'page'; type: 'patches'; base: number; version: number; patches: readonly PagePatch[] }
  /** `why`: the message for a reader who tries to act on a read-only page; null: no message. */
  | { outlast: 'page'; type: 'look'; theme: FrameTheme; readOnly: boolean; why?: string | null }
  /** The actions that are waiting or in progress, by the keys from the frame. */
  | { outlast: 'page'; type: 'busy'; keys: readonly string[] }

/** From the frame to the app. */
export type FromFrame =
  | { outlast: 'page'; type: 'ready' }
  | { outlast: 'page'; type: 'action'; key: string; name: string; data: Record<string, unknown> }
  | { outlast: 'page'; type: 'open'; href: string }
  | { outlast: 'page'; type: 'height'; height: number }
  | { outlast: 'page'; type: 'applied'; version: number }
  /** A message did not apply: the frame requests the whole page. */
  | { outlast: 'page'; type: 'lost'; version: number; why: string }
  /** An action was refused in the frame itself; the text is for people to read. */
  | { outlast: 'page'; type: 'trouble'; text: string }
  | { outlast: 'page'; type: 'undo' }

const MOST_TEXT = 500
const MOST_HEIGHT = 200_000

/** A validated message of the frame; null for anything else. */
export function readFromFrame(value: unknown): FromFrame | null {
  if (!isRecord(value) || value['outlast'] !== 'page') return null
  switch (value['type']) {
    case 'ready':
    case 'undo':
      return { outlast: 'page', type: value['type'] }
    case 'action':
      return readAction(value)
    case 'open': {
      const href = safeLink(value['href'])
      return href === null ? null : { outlast: 'page', type: 'open', href }
    }
    case 'height': {
      const height = wholeNumber(value['height'], MOST_HEIGHT)
      return height === null ? null : { outlast: 'page', type: 'height', height }
    }
    case 'applied': {
      const version = wholeNumber(value['version'])
      return version === null ? null : { outlast: 'page', type: 'applied', version }
    }
    case 'lost': {
      const version = wholeNumber(value['version'])
      return version === null ? null : { outlast: 'page', type: 'lost', version, why: short(value['why']) }
    }
    case 'trouble': {
      const text = short(value['text'])
      return text === '' ? null : { outlast: 'page', type: 'trouble', text }
    }
    default:
      return null
  }
}

function readAction({ key, name, data }: Record<string, unknown>): FromFrame | null {
  if (typeof key !== 'string' || key.length > 64 || typeof name !== 'string') return null
  if (!isRecord(data) || refusal(name, data) !== null) return null
  return { outlast: 'page', type: 'action', key, name, data }
}

/** An address that may be opened in a new window; null for every other. */
export function safeLink(href: unknown): string | null {
  if (typeof href !== 'string' || href.length > 4000) return null
  try {
    const url = new URL(href)
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : null
  } catch {
    return null
  }
}

/** A message of the app, as far as the frame uses it; its sender has been checked. */
export function readToFrame(value: unknown): ToFrame | null {
  if (!isRecord(value) || value['outlast'] !== 'page') return null
  const known = ['html', 'patches', 'look', 'busy'].includes(String(value['type']))
  return known ? (value as unknown as ToFrame) : null
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const wholeNumber = (value: unknown, most = Number.MAX_SAFE_INTEGER): number | null =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most ? value : null

const short = (value: unknown): string => (typeof value === 'string' ? value.slice(0, MOST_TEXT) : '')
