import { createContext, useContext } from 'react'

/** The view that replaces the current text: an earlier version, or the difference between two. */
export type Look = { kind: 'version'; version: number } | { kind: 'diff'; from: number; to: number } | null

export const LookContext = createContext<{ look: Look; setLook: (look: Look) => void }>({
  look: null,
  setLook: () => undefined,
})

export const useLook = () => useContext(LookContext)
