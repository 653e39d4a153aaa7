import { useEffect, useState } from 'react'

/** A text once it has not changed for a moment; an empty text at once. */
export function useDebounced(text: string, afterMs = 250): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    if (text === '') {
      setSettled('')
      return
    }
    const timer = setTimeout(() => setSettled(text), afterMs)
    return () => clearTimeout(timer)
  }, [text, afterMs])
  return text === '' ? '' : settled
}
