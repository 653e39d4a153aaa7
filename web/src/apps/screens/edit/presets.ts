/** Presets of the pickers: the steps of the theme, as classes. Pure. */

export interface Preset {
  label: string
  class: string
  /** The value of the property that the class sets. */
  value: string
  /** Other properties that the class sets. */
  css?: Record<string, string>
}

const size = (name: string, rem: number, lines: number): Preset => ({
  label: name,
  class: `text-${name}`,
  value: `${rem}rem`,
  css: { 'line-height': String(Math.round((lines / rem) * 1000) / 1000) },
})

export const FONT_SIZES: Preset[] = [
  size('xs', 0.75, 1),
  size('sm', 0.875, 1.25),
  size('base', 1, 1.5),
  size('lg', 1.125, 1.75),
  size('xl', 1.25, 1.75),
  size('2xl', 1.5, 2),
  size('3xl', 1.875, 2.25),
  size('4xl', 2.25, 2.5),
  size('5xl', 3, 3),
  size('6xl', 3.75, 3.75),
  size('7xl', 4.5, 4.5),
]

const weight = (label: string, name: string, value: number): Preset => ({
  label,
  class: `font-${name}`,
  value: `${value}`,
})

export const WEIGHTS: Preset[] = [
  weight('Light', 'light', 300),
  weight('Regular', 'normal', 400),
  weight('Medium', 'medium', 500),
  weight('Semibold', 'semibold', 600),
  weight('Bold', 'bold', 700),
  weight('Extra bold', 'extrabold', 800),
  weight('Black', 'black', 900),
]

export const LINE_HEIGHTS: Preset[] = [
  { label: 'None', class: 'leading-none', value: '1' },
  { label: 'Tight', class: 'leading-tight', value: '1.25' },
  { label: 'Snug', class: 'leading-snug', value: '1.375' },
  { label: 'Normal', class: 'leading-normal', value: '1.5' },
  { label: 'Relaxed', class: 'leading-relaxed', value: '1.625' },
  { label: 'Loose', class: 'leading-loose', value: '2' },
]

export const TRACKING: Preset[] = [
  { label: 'Tighter', class: 'tracking-tighter', value: '-0.05em' },
  { label: 'Tight', class: 'tracking-tight', value: '-0.025em' },
  { label: 'Normal', class: 'tracking-normal', value: '0em' },
  { label: 'Wide', class: 'tracking-wide', value: '0.025em' },
  { label: 'Wider', class: 'tracking-wider', value: '0.05em' },
]

export const FONTS: Preset[] = [
  { label: 'Theme sans', class: 'font-sans', value: 'var(--font-sans)' },
  { label: 'Theme mono', class: 'font-mono', value: 'var(--font-mono)' },
  { label: 'Serif', class: 'font-serif', value: 'ui-serif, Georgia, Cambria, "Times New Roman", Times, serif' },
]

export const RADII: Preset[] = [
  { label: 'None', class: 'rounded-none', value: '0px' },
  { label: 'Small', class: 'rounded-sm', value: 'calc(var(--radius) * 0.6)' },
  { label: 'Medium', class: 'rounded-md', value: 'calc(var(--radius) * 0.8)' },
  { label: 'Large', class: 'rounded-lg', value: 'var(--radius)' },
  { label: 'Extra large', class: 'rounded-xl', value: 'calc(var(--radius) * 1.4)' },
  { label: 'Huge', class: 'rounded-2xl', value: 'calc(var(--radius) * 1.9)' },
  { label: 'Round', class: 'rounded-full', value: '9999px' },
]

export const SHADOWS: Preset[] = [
  { label: 'None', class: 'shadow-none', value: 'none' },
  { label: 'Extra small', class: 'shadow-xs', value: '0 1px 2px 0 rgb(0 0 0 / 0.05)' },
  { label: 'Small', class: 'shadow-sm', value: '0 1px 3px 0 rgb(0 0 0 / 0.1), 0 1px 2px -1px rgb(0 0 0 / 0.1)' },
  { label: 'Medium', class: 'shadow-md', value: '0 4px 6px -1px rgb(0 0 0 / 0.1), 0 2px 4px -2px rgb(0 0 0 / 0.1)' },
  { label: 'Large', class: 'shadow-lg', value: '0 10px 15px -3px rgb(0 0 0 / 0.1), 0 4px 6px -4px rgb(0 0 0 / 0.1)' },
  {
    label: 'Extra large',
    class: 'shadow-xl',
    value: '0 20px 25px -5px rgb(0 0 0 / 0.1), 0 8px 10px -6px rgb(0 0 0 / 0.1)',
  },
  { label: 'Huge', class: 'shadow-2xl', value: '0 25px 50px -12px rgb(0 0 0 / 0.25)' },
]

/** The preset among an element's classes: the last one applies. */
export function presetIn(presets: readonly Preset[], classes: string): Preset | undefined {
  const names = classes.split(/\s+/)
  return presets
    .toSorted((a, b) => names.lastIndexOf(b.class) - names.lastIndexOf(a.class))
    .find((one) => names.includes(one.class))
}
