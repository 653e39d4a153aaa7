import { startTransition, useEffect, useState, type RefObject } from 'react'

const waiting = new WeakMap<Element, () => void>()

const observer =
  typeof IntersectionObserver === 'undefined'
    ? null
    : new IntersectionObserver(
        (entries) => {
          for (const { isIntersecting, target } of entries) {
            if (!isIntersecting) continue
            observer?.unobserve(target)
            waiting.get(target)?.()
          }
        },
        { rootMargin: '1500px 0px' },
      )

const CHANGED = 'contentvisibilityautostatechange'

/** Rows with `content-visibility: auto` are told by the browser itself when they come near: it looks after them anyway, and a
 * second observer of hundreds of rows would cost time in every frame. */
const told = (element: Element): boolean =>
  `on${CHANGED}` in element && getComputedStyle(element).contentVisibility === 'auto'

function isSeen(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect()
  return bottom > 0 && top < innerHeight
}

/** Whether something was near the window once: what never was, need not be drawn richly. */
export function useNearViewport(ref: RefObject<Element | null>, at = false): boolean {
  const [near, setNear] = useState(at || observer === null)
  useEffect(() => {
    const element = ref.current
    if (near || element === null || observer === null) return
    // What is seen, now; what is only near, bit by bit, and after whatever a person does meanwhile.
    const comes = () => (isSeen(element) ? setNear(true) : startTransition(() => setNear(true)))
    if (told(element)) {
      const hear = (event: Event) => (event as ContentVisibilityAutoStateChangeEvent).skipped || comes()
      element.addEventListener(CHANGED, hear)
      return () => element.removeEventListener(CHANGED, hear)
    }
    waiting.set(element, comes)
    observer.observe(element)
    return () => observer.unobserve(element)
  }, [near, ref])
  return near
}
