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

/** For rows with `content-visibility: auto`, the browser reports when they come near: it tracks them anyway, and a
 * second observer of hundreds of rows would cost time in every frame. */
const reportsVisibility = (element: Element): boolean =>
  `on${CHANGED}` in element && getComputedStyle(element).contentVisibility === 'auto'

function isSeen(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect()
  return bottom > 0 && top < innerHeight
}

/** True once an element has been near the viewport: until then it needs no rich rendering. */
export function useNearViewport(ref: RefObject<Element | null>, at = false): boolean {
  const [near, setNear] = useState(at || observer === null)
  useEffect(() => {
    const element = ref.current
    if (near || element === null || observer === null) return
    // Visible elements render now; near ones bit by bit, with a lower priority than user input.
    const comes = () => (isSeen(element) ? setNear(true) : startTransition(() => setNear(true)))
    if (reportsVisibility(element)) {
      const onChange = (event: Event) => (event as ContentVisibilityAutoStateChangeEvent).skipped || comes()
      element.addEventListener(CHANGED, onChange)
      return () => element.removeEventListener(CHANGED, onChange)
    }
    waiting.set(element, comes)
    observer.observe(element)
    return () => observer.unobserve(element)
  }, [near, ref])
  return near
}
