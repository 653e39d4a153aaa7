import { LayoutTemplate } from 'lucide-react'
import type { PageData } from '@outlast/sdk'
import { useModelChoice } from '@/features/threads/model-choice'
import { useOpenThread } from '@/features/threads/thread-context'
import { firstPages } from './suggestions'
import { SuggestionChips } from '@/features/threads/suggestion-chips'

/** Shown in place of an empty page. */
export function NothingYet({ page, mayDrive }: { page: PageData; mayDrive: boolean }) {
  const { open } = useOpenThread()
  const { model } = useModelChoice()
  const working = open.activeRun !== null || page.active_run_id !== null
  return (
    <div className="absolute inset-0 grid place-items-center overflow-y-auto bg-bg p-6 text-center">
      {working ? (
        <div role="status" aria-label="The page is being built" className="w-full max-w-xl animate-pulse space-y-4">
          <div className="h-7 w-2/5 rounded-lg bg-active" />
          <div className="h-4 w-3/5 rounded bg-hover" />
          <div className="grid grid-cols-3 gap-3">
            {[0, 1, 2].map((one) => (
              <div key={one} className="h-20 rounded-xl border border-line bg-raised" />
            ))}
          </div>
          <div className="h-36 rounded-xl border border-line bg-raised" />
        </div>
      ) : (
        <div>
          <div className="mx-auto mb-4 grid size-11 place-items-center rounded-2xl border border-line bg-raised text-muted">
            <LayoutTemplate className="size-5" aria-hidden />
          </div>
          <h2 className="text-xl font-semibold tracking-tight">Nothing on this page yet</h2>
          <p className="mx-auto mt-1.5 mb-5 max-w-sm text-muted">
            {mayDrive
              ? 'Describe below what it should show. It is built while you watch, and you can use it right away.'
              : 'The page appears here when an editor builds it.'}
          </p>
          {mayDrive && <SuggestionChips suggestions={firstPages(model)} className="max-w-lg justify-center" />}
        </div>
      )}
    </div>
  )
}
