import { Dialog } from '@/components/dialog'
import { REVIEW_KEYS } from './review-keys'

export const ReviewHelp = ({ open, onClose }: { open: boolean; onClose: () => void }) => (
  <Dialog open={open} onClose={onClose} title="Keyboard shortcuts for reviews">
    <dl>
      {REVIEW_KEYS.map(([keys, does]) => (
        <div key={keys} className="flex h-8 items-center justify-between gap-4">
          <dt className="text-muted">{does}</dt>
          <dd className="shrink-0">
            <kbd className="rounded-md border border-line-strong bg-side px-1.5 py-0.5 font-sans text-xs">{keys}</kbd>
          </dd>
        </div>
      ))}
    </dl>
  </Dialog>
)
