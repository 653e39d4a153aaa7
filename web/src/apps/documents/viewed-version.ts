import { createContext, useContext } from 'react'

/** What is looked at instead of the text as it is: an earlier version, or what lies between two. */
export type Look = { kind: 'version'; version: number } | { kind: 'diff'; from: number; to: number } | null

export const LookContext = createContext<{ look: Look; setLook: (look: Look) => void }>({
  look: null,
  setLook: () => undefined,
})

export const useLook = () => useContext(LookContext)
