import { useCallback, useEffect, useRef } from 'react'
import { client } from '@/lib/queries'
import { useOthers } from './presence'
import { useOpenThread } from './thread-context'

const AGAIN_MS = 4000
const OVER_MS = 5000

/** Reports typing to other people, at most every few seconds, and the end of it. Only if other people are present. */
export function useTellTyping(): () => void {
  const { thread } = useOpenThread()
  const { others } = useOthers()
  const last = useRef(0)
  const over = useRef<ReturnType<typeof setTimeout>>(undefined)
  const alone = others.length === 0
  useEffect(() => () => clearTimeout(over.current), [])
  return useCallback(() => {
    if (alone) return
    const report = (typing: boolean) => {
      last.current = typing ? Date.now() : 0
      client.typing(thread.id, typing).catch(() => undefined)
    }
    clearTimeout(over.current)
    over.current = setTimeout(() => report(false), OVER_MS)
    if (Date.now() - last.current >= AGAIN_MS) report(true)
  }, [alone, thread.id])
}
