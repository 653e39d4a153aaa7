import { useQuery } from '@tanstack/react-query'
import { MonitorSmartphone } from 'lucide-react'
import { lazy, Suspense, useState, type ReactNode } from 'react'
import type { Sandbox } from '@outlast/sdk'
import { IconButton } from '@/components/button'
import { ErrorBoundary } from '@/components/error-boundary'
import { sandboxesQuery, useSandboxNews } from '../sandboxes/sandboxes'
import { useOpenThread } from '../threads/thread-context'

const PreviewPanel = lazy(() => import('./preview-panel'))

/** The thread's sandbox; if it was killed, the last known one, because its previews redirect to the next one. */
function useThreadSandbox(projectId: string, threadId: string): Sandbox | null {
  const { data } = useQuery(sandboxesQuery(projectId))
  useSandboxNews(projectId)
  const [last, setLast] = useState<Sandbox | null>(null)
  const living = data?.items.find((one) => one.thread_id === threadId) ?? null
  if (living !== null && living !== last) setLast(living)
  return living ?? last
}

interface ThreadPreview {
  /** The button for the thread's header; null while there is no sandbox. */
  button: ReactNode
  panel: ReactNode
}

/** The preview of a thread's sandbox: a button, and the panel that it opens. */
export function useThreadPreview(): ThreadPreview {
  const { thread } = useOpenThread()
  const sandbox = useThreadSandbox(thread.project_id, thread.id)
  const [open, setOpen] = useState(false)
  if (sandbox === null) return { button: null, panel: null }
  const button = (
    <IconButton
      label={open ? 'Close the preview' : 'Preview'}
      aria-pressed={open}
      className={open ? 'bg-active text-fg' : ''}
      onClick={() => setOpen(!open)}
    >
      <MonitorSmartphone />
    </IconButton>
  )
  const panel = open ? (
    <ErrorBoundary>
      <Suspense>
        <PreviewPanel sandbox={sandbox} onClose={() => setOpen(false)} />
      </Suspense>
    </ErrorBoundary>
  ) : null
  return { button, panel }
}
