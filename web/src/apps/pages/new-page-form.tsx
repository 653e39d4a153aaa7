import { Anchor, Bug, CalendarRange, ChartColumn, ClipboardList, Gauge, Hash, ListChecks, Scale } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type { PageData } from '@outlast/sdk'
import { Button } from '@/components/button'
import { complain } from '@/components/toast'
import { client } from '@/lib/queries'
import { Composer } from '@/features/threads/composer'
import { useModelChoice } from '@/features/threads/model-choice'
import { keyFor, type Outgoing } from '@/features/threads/outgoing-message'
import { putPage } from './pages'
import { firstPages, type SuggestedPage } from './suggestions'

const ICONS: Record<SuggestedPage, ReactNode> = {
  issues: <Bug />,
  chart: <ChartColumn />,
  team: <Anchor />,
  todo: <ListChecks />,
  counter: <Hash />,
  board: <Gauge />,
  survey: <ClipboardList />,
  plan: <CalendarRange />,
  compare: <Scale />,
}

interface NewPageFormProps {
  projectId: string
  onCreated: (page: PageData) => void
}

/** Describes a new page: sending creates it and starts the run at once. */
export function NewPageForm({ projectId, onCreated }: NewPageFormProps) {
  const [keys] = useState(() => new Map<string, string>())
  const [busy, setBusy] = useState<string | null>(null)
  const { model } = useModelChoice()
  const create = async (key: string) => {
    const page = await client.pages.create(projectId, {}, keyFor(keys, key))
    putPage(page)
    return page
  }
  const send = async ({ content, images, model }: Outgoing) => {
    const start = { content, ...(model !== null && { model }), ...(images.length > 0 && { images }) }
    const page = await create(JSON.stringify(start))
    try {
      await client.startRun(page.thread_id, start, keyFor(keys, `${page.id} ${JSON.stringify(start)}`))
    } catch (reason) {
      complain(reason as Error) // The page exists; its prompt bar keeps the message that was not sent
      localStorage.setItem(`outlast.draft.${page.thread_id}`, content)
    }
    keys.clear()
    onCreated(page)
  }
  const once = (name: string, work: () => Promise<unknown>) => {
    setBusy(name)
    work()
      .catch(complain)
      .finally(() => setBusy(null))
  }
  return (
    <div>
      <Composer
        projectId={projectId}
        draftKey={`page.${projectId}`}
        placeholder="Describe the page you want, and what people can do on it"
        onSend={send}
        autoFocus
      />
      <div className="mt-4 grid grid-cols-2 gap-2 sm:grid-cols-3">
        {firstPages(model).map(({ page, label, text }) => (
          <button
            key={page}
            disabled={busy !== null}
            title={text}
            aria-busy={busy === page || undefined}
            onClick={() => once(page, () => send({ content: text, images: [], model: model?.id ?? null }))}
            className="flex items-center gap-2.5 rounded-xl border border-line px-3 py-2.5 text-left text-muted transition-colors hover:border-line-strong hover:bg-hover hover:text-fg disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-faint"
          >
            {ICONS[page]}
            <span className="truncate">{label}</span>
          </button>
        ))}
      </div>
      <div className="mt-3 flex justify-end">
        <Button
          size="sm"
          look="ghost"
          busy={busy === 'empty'}
          onClick={() => once('empty', async () => (onCreated(await create('empty')), keys.clear()))}
        >
          Start empty
        </Button>
      </div>
    </div>
  )
}
