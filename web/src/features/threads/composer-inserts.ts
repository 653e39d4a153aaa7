import { useEffect, useRef, useState } from 'react'
import type { CapturedElement } from './captures'

/** Text and elements that other parts of the page hand over to a composer. */
export interface ComposerInserts {
  watch: (listener: () => void) => () => void
  take: () => { text: string; elements: CapturedElement[] }
}

/** Takes inserts for the composer, now and whenever more arrive. Increases each time, so that the box is focused. */
export function useComposerInserts(
  handover: ComposerInserts | undefined,
  text: string,
  setText: (text: string) => void,
  setElements: (change: (elements: CapturedElement[]) => CapturedElement[]) => void,
): number {
  const [times, setTimes] = useState(0)
  const written = useRef(text)
  useEffect(() => {
    written.current = text
  })
  useEffect(() => {
    if (handover === undefined) return
    const take = () => {
      const handed = handover.take()
      if (handed.text === '' && handed.elements.length === 0) return
      const before = written.current.trimEnd()
      if (handed.text !== '') setText(before === '' ? handed.text : `${before}\n\n${handed.text}`)
      if (handed.elements.length > 0) setElements((elements) => [...elements, ...handed.elements])
      setTimes((times) => times + 1)
    }
    take()
    return handover.watch(take)
  }, [handover, setText, setElements])
  return times
}
