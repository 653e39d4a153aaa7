import type { ReactNode } from 'react'
import { Mark } from './brand'

/** The page of a visitor who is not signed in yet. */
export function AuthCard({ title, lead, children }: { title: string; lead: ReactNode; children: ReactNode }) {
  return (
    <main className="grid min-h-full place-items-center bg-side px-4 py-10">
      <div className="w-full max-w-sm">
        <Mark className="mb-6 size-10" />
        <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
        <p className="mt-1.5 mb-6 text-muted">{lead}</p>
        {children}
      </div>
    </main>
  )
}
