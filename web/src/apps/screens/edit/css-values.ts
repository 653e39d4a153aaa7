/** Conversions between CSS values of the browser and the values that a person types. */

/** The unit of a plain number is pixels. */
export function typedValue(text: string, unit = 'px'): string {
  const plain = text.trim()
  return /^-?(?:\d+\.?\d*|\.\d+)$/.test(plain) ? `${plain}${unit}` : plain
}

/** A computed value for display: pixels without a unit, at most two decimals. */
export function shownValue(value: string): string {
  const pixels = /^(-?[\d.]+)px$/.exec(value)
  return pixels === null ? value : String(Math.round(Number(pixels[1]) * 100) / 100)
}

/** One step up or down, keeping the unit; null if there is no number. */
export function stepped(text: string, by: number): string | null {
  const match = /^(-?(?:\d+\.?\d*|\.\d+))(.*)$/.exec(text.trim())
  if (match === null) return null
  return `${Math.round((Number(match[1]) + by) * 100) / 100}${match[2] ?? ''}`
}

const known = new Map<string, string>()

/** Any colour as `#rrggbb`, for the browser's colour picker; black if it is not a colour. */
export function toHex(color: string): string {
  const before = known.get(color)
  if (before !== undefined) return before
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = 1
  const context = canvas.getContext('2d', { willReadFrequently: true })
  if (context === null) return '#000000'
  context.fillStyle = color
  context.fillRect(0, 0, 1, 1)
  const hex = `#${[...context.getImageData(0, 0, 1, 1).data]
    .slice(0, 3)
    .map((one) => one.toString(16).padStart(2, '0'))
    .join('')}`
  known.set(color, hex)
  return hex
}

/** True if a colour is fully transparent. */
export const isClear = (color: string): boolean =>
  color === '' || color === 'transparent' || /^rgba\(.*,\s*0\)$|\/\s*0\)$/.test(color)
