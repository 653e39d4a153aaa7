import { useEffect, useState } from 'react'
import { useOrder } from './use-document'
import { bodyOf } from './use-row-moves'

const LINE_PX = 120

/** The section being read: the last whose heading has passed the upper part of the window. */
export function useCurrentSection(): string | null {
  const order = useOrder()
  const [current, setCurrent] = useState<string | null>(null)
  useEffect(() => {
    const body = bodyOf()
    if (body === null) return
    let frame = 0
    const look = () => {
      frame = 0
      const edge = body.getBoundingClientRect().top + LINE_PX
      const sections = [...body.querySelectorAll<HTMLElement>('[data-section-id]')]
      const passed = sections.filter((section) => section.getBoundingClientRect().top <= edge).at(-1) ?? sections[0]
      setCurrent(passed?.dataset['sectionId'] ?? null)
    }
    const later = () => void (frame === 0 && (frame = requestAnimationFrame(look)))
    look()
    body.addEventListener('scroll', later, { passive: true })
    return () => {
      cancelAnimationFrame(frame)
      body.removeEventListener('scroll', later)
    }
  }, [order])
  return current
}
