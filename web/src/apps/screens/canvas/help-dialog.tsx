import { Dialog } from '@/components/dialog'
import { SHORTCUTS } from './canvas-keys'

/** The keyboard shortcuts of the canvas. */
export const HelpDialog = ({ open, onClose }: { open: boolean; onClose: () => void }) => (
  <Dialog open={open} onClose={onClose} title="Keyboard shortcuts" className="sm:ml-[-20rem] sm:w-[40rem]">
    <div className="gap-x-8 sm:columns-2">
      {SHORTCUTS.map(([group, rows]) => (
        <section key={group} className="mb-5 break-inside-avoid">
          <h3 className="mb-1.5 text-xs font-medium text-faint">{group}</h3>
          <dl>
            {rows.map(([keys, what]) => (
              <div key={what} className="flex h-8 items-center justify-between gap-4">
                <dt className="text-muted">{what}</dt>
                <dd className="shrink-0">
                  <kbd className="rounded-md border border-line-strong bg-side px-1.5 py-0.5 font-sans text-xs">
                    {keys}
                  </kbd>
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  </Dialog>
)
