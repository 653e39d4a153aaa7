import { LayoutTemplate } from 'lucide-react'
import { useState } from 'react'
import type { PageData } from '@outlast/sdk'
import { complain } from '@/components/toast'
import { useModelChoice } from '@/features/threads/model-choice'
import { useOpenThread, useSender } from '@/features/threads/thread-context'
import { firstPages } from './suggestions'

/** In the place of a page on which there is nothing yet. */
export function NothingYet({ page, mayDrive }: { page: PageData; mayDrive: boolean }) {
  const { open } = useOpenThread()
  const { send } = useSender()
  const { model } = useModelChoice()
  const [busy, setBusy] = useState(false)
  const working = open.activeRun !== null || page.active_run_id !== null
  const choose = (content: string) => {
    setBusy(true)
    send({ content, images: [], model: model?.id ?? null })
      .catch(complain)
      .finally(() => setBusy(false))
  }
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
              ? 'Say below what it shall show. It is built while you watch, and you can use it at once.'
              : 'You will see here what others make of it.'}
          </p>
          {mayDrive && (
            <ul aria-label="Suggestions" className="flex max-w-lg flex-wrap justify-center gap-1.5">
              {firstPages(model).map(({ page: name, label, text }) => (
                <li key={name}>
                  <button
                    disabled={busy}
                    title={text}
                    className="rounded-full border border-line px-3 py-1.5 text-[13px] text-muted transition-colors hover:border-line-strong hover:bg-hover hover:text-fg disabled:opacity-50 pointer-coarse:py-2"
                    onClick={() => choose(text)}
                  >
                    {label}
                  </button>
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </div>
  )
}
