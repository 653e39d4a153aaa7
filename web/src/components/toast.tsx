import { CircleAlert, CircleCheck, X } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { OutlastError } from '@outlast/sdk'

interface Toast {
  id: number
  kind: 'ok' | 'error'
  title: string
  hint: string
  action?: { label: string; run: () => void }
}

let toasts: Toast[] = []
let lastId = 0
const listeners = new Set<() => void>()

function show(toast: Omit<Toast, 'id'>, forMs: number): void {
  const id = (lastId += 1)
  toasts = [...toasts.filter(({ title }) => title !== toast.title), { id, ...toast }].slice(-3)
  notify()
  setTimeout(() => dismiss(id), forMs)
}

function dismiss(id: number): void {
  toasts = toasts.filter((toast) => toast.id !== id)
  notify()
}

const notify = () => listeners.forEach((listener) => listener())

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Shows a brief success message. */
export const say = (title: string) => show({ kind: 'ok', title, hint: '' }, 3000)

/** Shows a brief success message with one action, such as Undo. */
export const offer = (title: string, label: string, run: () => void) =>
  show({ kind: 'ok', title, hint: '', action: { label, run } }, 9000)

/** Shows an error and the next step; for actions that have no place for an error of their own. */
export const complain = (error: Error) =>
  show({ kind: 'error', title: error.message, hint: error instanceof OutlastError ? error.hint : '' }, 9000)

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts)
  return (
    <div aria-live="polite" className="pointer-events-none fixed inset-x-3 top-3 z-60 flex flex-col items-center gap-2">
      {shown.map(({ id, kind, title, hint, action }) => (
        <div
          key={id}
          className="pointer-events-auto flex w-full max-w-sm gap-2.5 rounded-xl border border-line bg-raised px-3.5 py-2.5 shadow-pop animate-in sm:w-auto"
        >
          {kind === 'ok' ? (
            <CircleCheck className="mt-0.5 size-4 shrink-0 text-ok" />
          ) : (
            <CircleAlert className="mt-0.5 size-4 shrink-0 text-danger" />
          )}
          <div className="min-w-0 flex-1">
            <p>{title}</p>
            {hint !== '' && <p className="mt-0.5 text-muted">{hint}</p>}
          </div>
          {action !== undefined && (
            <button
              className="self-start font-medium text-link hover:underline"
              onClick={() => {
                dismiss(id)
                action.run()
              }}
            >
              {action.label}
            </button>
          )}
          <button
            aria-label="Dismiss"
            className="-mr-1 self-start p-0.5 text-faint hover:text-fg"
            onClick={() => dismiss(id)}
          >
            <X className="size-3.5" />
          </button>
        </div>
      ))}
    </div>
  )
}
