/** How large a screen may be. Pure; CSS pixels. */
import { Monitor, Smartphone, Tablet } from 'lucide-react'
import type { ScreenPlace } from '@outlast/sdk'

/** What is offered, in the order of the menus. */
export const SIZES = {
  desktop: { label: 'Desktop', width: 1280, height: 800, icon: Monitor },
  tablet: { label: 'Tablet', width: 820, height: 1180, icon: Tablet },
  phone: { label: 'Phone', width: 390, height: 844, icon: Smartphone },
} as const

export type SizeName = keyof typeof SIZES

/** As small and as large as the server takes them. */
export const SMALLEST = 240
export const WIDEST = 3840
export const TALLEST = 4320

/** Which preset a screen has; null: a size of its own. */
export function sizeOf({ width, height }: Pick<ScreenPlace, 'width' | 'height'>): SizeName | null {
  const names = Object.keys(SIZES) as SizeName[]
  return names.find((name) => SIZES[name].width === width && SIZES[name].height === height) ?? null
}
