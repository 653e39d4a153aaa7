import type { ReactNode } from 'react'

/** A name and a value in the list of facts about a run. */
export const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div className="min-w-0 bg-bg px-3.5 py-2.5">
    <dt className="text-xs text-faint">{name}</dt>
    <dd className="mt-0.5 truncate tabular-nums">{children}</dd>
  </div>
)
