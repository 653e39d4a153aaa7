import { Monitor, Smartphone, Tablet, type LucideIcon } from 'lucide-react'

export type Width = 'phone' | 'tablet' | 'desktop'

/** Widths of the frame; null: the available width. */
export const WIDTHS: Record<Width, { label: string; pixels: number | null; icon: LucideIcon }> = {
  phone: { label: 'Phone', pixels: 390, icon: Smartphone },
  tablet: { label: 'Tablet', pixels: 820, icon: Tablet },
  desktop: { label: 'Desktop', pixels: null, icon: Monitor },
}

export const isWidth = (word: string): word is Width => word in WIDTHS
