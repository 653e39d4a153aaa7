/** Sizes of a screen. Pure; CSS pixels. */
import { Monitor, Smartphone, Tablet } from 'lucide-react'
import type { ScreenPlace } from '@outlast/sdk'

/** The presets, in the order of the menus. */
export const SIZES = {
  desktop: { label: 'Desktop', width: 1280, height: 800, icon: Monitor },
  tablet: { label: 'Tablet', width: 820, height: 1180, icon: Tablet },
  phone: { label: 'Phone', width: 390, height: 844, icon: Smartphone },
} as const

export type SizeName = keyof typeof SIZES

/** The smallest and largest size that the server accepts. */
export const SMALLEST = 240
export const WIDEST = 3840
export const TALLEST = 4320

/** The preset that a screen has, or null for a custom size. */
export function sizeOf({ width, height }: Pick<ScreenPlace, 'width' | 'height'>): SizeName | null {
  const names = Object.keys(SIZES) as SizeName[]
  return names.find((name) => SIZES[name].width === width && SIZES[name].height === height) ?? null
}
