/** Numbers and times for display. Pure; in the page's own language and time zone. */

// Created once, because each new one reads the language's tables.
const MINUTES = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit' })
const SECONDS = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const MOMENT = new Intl.DateTimeFormat([], { dateStyle: 'medium', timeStyle: 'medium' })
const DAY = new Intl.DateTimeFormat([], { month: 'short', day: 'numeric' })

export function clockTime(iso: string): string {
  return MINUTES.format(new Date(iso))
}

/** With seconds, for comparison with logs. */
export function secondTime(iso: string): string {
  return SECONDS.format(new Date(iso))
}

export function fullTime(iso: string): string {
  return MOMENT.format(new Date(iso))
}

/** "now", "5m", "3h", "2d", then the date. */
export function ago(iso: string, nowMs: number): string {
  const minutes = Math.floor((nowMs - Date.parse(iso)) / 60_000)
  if (minutes < 1) return 'now'
  if (minutes < 60) return `${minutes}m`
  if (minutes < 60 * 24) return `${Math.floor(minutes / 60)}h`
  if (minutes < 60 * 24 * 7) return `${Math.floor(minutes / 60 / 24)}d`
  return DAY.format(new Date(iso))
}

export function duration(seconds: number): string {
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`
  if (seconds < 10) return `${Number.isInteger(seconds) ? seconds : seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
}

/** The time left until a moment, as a countdown: "4:05", "23 h 58 min", "6 d 3 h"; "0:00" when it has passed. */
export function countdown(iso: string, nowMs: number): string {
  const left = Math.max(0, Math.ceil((Date.parse(iso) - nowMs) / 1000))
  if (left >= 172_800) return `${Math.floor(left / 86_400)} d ${Math.floor((left % 86_400) / 3600)} h`
  if (left >= 3600) return `${Math.floor(left / 3600)} h ${Math.floor((left % 3600) / 60)} min`
  return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`
}

export function bytes(count: number): string {
  if (count < 1000) return `${count} B`
  if (count < 999_500) return `${Math.round(count / 1000)} kB`
  if (count < 999_950_000) return `${(count / 1e6).toFixed(1)} MB`
  return `${(count / 1e9).toFixed(1)} GB`
}

export const count = (n: number): string => n.toLocaleString()

/** A count as a share of a whole; a dash if the whole is zero. */
export const percent = (part: number, whole: number): string =>
  whole === 0 ? '–' : `${Math.round((part / whole) * 100)} %`

/** The name of a thing without a title. */
export const UNTITLED = 'Untitled'

export const shownTitle = (title: string): string => (title === '' ? UNTITLED : title)

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`
}

export function dollars(usd: number): string {
  return usd === 0 ? '$0' : usd < 0.01 ? `$${usd.toPrecision(2)}` : `$${usd.toFixed(2)}`
}

/** Indented JSON text; unchanged if it is not (yet) valid JSON. */
export function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** The object in a JSON text; null if the text is incomplete or not an object. */
export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}
