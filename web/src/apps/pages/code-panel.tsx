import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { ChevronRight, Code2, FileCode, Library, SearchCode, Trash2, type LucideIcon } from 'lucide-react'
import { useCallback, useState } from 'react'
import type { ModuleData, OutlastEvent, PageCode, PageData } from '@outlast/sdk'
import { useEvents } from '@outlast/sdk/react'
import { Button, IconButton } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { Since } from '@/components/time'
import { complain, say } from '@/components/toast'
import { Tip } from '@/components/tooltip'
import { cn } from '@/lib/cn'
import { duration, parseObject, prettyJson } from '@/lib/format'
import { client, queryClient } from '@/lib/queries'
import { useFreshOnce } from '@/features/shell/active-project'
import { useOpenThread } from '@/features/threads/thread-context'
import { Block } from '@/features/threads/tool-body'
import { evaluation, readable } from '@/features/threads/tool-text'
import { MoreButton } from '@/components/more-button'

const LIST = 30
const codeKey = (pageId: string) => ['page-code', pageId]
const modulesKey = (pageId: string) => ['page-modules', pageId]
const NEWS = new Set(['tool_call.result', 'run.completed', 'run.error', 'run.cancelled', 'modules.saved'])

/** The code that ran for the page with its results, and the modules that its agent saved. */
export function CodePanel({ page, mayEdit, offered }: { page: PageData; mayEdit: boolean; offered: boolean }) {
  useEvents(
    useCallback(
      ({ event }: OutlastEvent) => {
        if (!NEWS.has(event)) return
        void queryClient.invalidateQueries({ queryKey: codeKey(page.id) })
        if (event !== 'tool_call.result') void queryClient.invalidateQueries({ queryKey: modulesKey(page.id) })
      },
      [page.id],
    ),
  )
  const live = useOpenThread().open.connection.status === 'live'
  useFreshOnce(live, codeKey(page.id))
  useFreshOnce(live, modulesKey(page.id))
  return (
    <div className="min-h-0 flex-1 space-y-5 overflow-y-auto p-2.5">
      {!offered && (
        <p role="note" className="rounded-xl border border-line bg-side px-3.5 py-2.5 text-muted">
          This server has no sandbox, so the agent cannot run code. Pages show only what it knows and what you tell it.
          To change this, ask an administrator to add a sandbox in the configuration, section <code>[sandbox]</code>.
        </p>
      )}
      <Modules page={page} mayEdit={mayEdit} />
      <Ran page={page} />
    </div>
  )
}

function Ran({ page }: { page: PageData }) {
  const list = useInfiniteQuery({
    queryKey: codeKey(page.id),
    queryFn: ({ pageParam, signal }) =>
      client.pages.code(page.id, { limit: LIST, signal, ...(pageParam !== null && { before: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next,
  })
  const { data, error, refetch } = list
  const items = data?.pages.flatMap((one) => one.items) ?? []
  return (
    <section aria-label="Executed code">
      <Heading>Executed code</Heading>
      {error !== null && <Problem error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <SkeletonRows rows={3} className="h-11" />}
      {data !== undefined && items.length === 0 && (
        <Empty icon={<Code2 />} title="No code yet" className="py-8">
          Code that the agent runs for this page appears here, with its results.
        </Empty>
      )}
      <ol className="space-y-1.5">
        {items.map((item, at) => (
          <Run key={item.part_id} item={item} first={at === 0} />
        ))}
      </ol>
      <MoreButton list={list} label="Older" />
    </section>
  )
}

const TOOLS: Record<string, [icon: LucideIcon, words: string]> = {
  run_code: [Code2, 'Ran code'],
  search_docs: [SearchCode, 'Searched the documentation'],
  create_or_update_files: [FileCode, 'Wrote files'],
  read_files: [FileCode, 'Read files'],
}

function Run({ item, first }: { item: PageCode; first: boolean }) {
  const [choice, setChoice] = useState<boolean | null>(null)
  const open = choice ?? first
  const [Icon, words] = TOOLS[item.tool] ?? [Code2, item.tool]
  const failed = item.status === 'error' || evaluation(parseObject(item.result ?? ''))?.success === false
  return (
    <li
      data-code={item.part_id}
      data-tool={item.tool}
      className="overflow-hidden rounded-xl border border-line bg-raised"
    >
      <button
        aria-expanded={open}
        className="flex w-full items-center gap-2.5 px-3 py-2 text-left hover:bg-hover"
        onClick={() => setChoice(!open)}
      >
        <Icon className={cn('size-4 shrink-0', failed ? 'text-danger' : 'text-faint')} aria-hidden />
        <span className="min-w-0 flex-1">
          <span className="line-clamp-2">{item.description === '' ? words : item.description}</span>
          <span className="block text-xs text-faint">
            {failed ? 'failed · ' : item.status === 'done' ? '' : `${item.status} · `}
            {item.language === '' ? '' : `${item.language} · `}
            {item.duration_s === null ? '' : `${duration(item.duration_s)} · `}
            <Since iso={item.at} />
          </span>
        </span>
        <ChevronRight
          className={cn('size-3.5 shrink-0 text-faint transition-transform', open && 'rotate-90')}
          aria-hidden
        />
      </button>
      {open && <Inside item={item} />}
    </li>
  )
}

function Inside({ item }: { item: PageCode }) {
  const { result, stdout, error } = evaluation(parseObject(item.result ?? '')) ?? {
    result: item.result === null ? '' : prettyJson(item.result),
    stdout: '',
    error: null,
  }
  return (
    <div className="space-y-2 border-t border-line p-2">
      {item.code !== '' && <Block label={item.language || 'asked'} text={item.code} language={item.language} />}
      {stdout !== '' && <Block label="Printed" text={stdout} />}
      {readable(result) !== '' && <Block label="Result" text={readable(result)} language="json" />}
      {readable(error) !== '' && <Block label="Error" text={readable(error)} danger />}
    </div>
  )
}

function Modules({ page, mayEdit }: { page: PageData; mayEdit: boolean }) {
  const { data } = useQuery({
    queryKey: modulesKey(page.id),
    queryFn: async ({ signal }) => (await client.pages.modules(page.id, signal)).items,
  })
  if (data === undefined || data.length === 0) return null
  return (
    <section aria-label="Modules">
      <Heading>Saved modules</Heading>
      <ul className="space-y-1.5">
        {data.map((module) => (
          <Module key={module.id} module={module} mayEdit={mayEdit} pageId={page.id} />
        ))}
      </ul>
    </section>
  )
}

function Module({ module, mayEdit, pageId }: { module: ModuleData; mayEdit: boolean; pageId: string }) {
  const [asking, setAsking] = useState<'publish' | 'delete' | null>(null)
  const published = module.scope === 'user'
  const after = () => void queryClient.invalidateQueries({ queryKey: modulesKey(pageId) })
  const publish = () =>
    client.pages.publish(module.id).then(() => (after(), say(`${module.path} published to your library`)), complain)
  const remove = () => client.pages.deleteModule(module.id).then(after, complain)
  return (
    <li data-module={module.path} className="rounded-xl border border-line px-3 py-2">
      <div className="flex items-start gap-2">
        <FileCode className="mt-0.5 size-4 shrink-0 text-faint" aria-hidden />
        <div className="min-w-0 flex-1">
          <p className="truncate font-mono text-[12.5px]">{module.path}</p>
          <p className="text-muted">{module.description}</p>
          <p className="mt-0.5 truncate font-mono text-xs text-faint">{module.exports.join(', ')}</p>
          {!module.verified && <p className="mt-1 text-xs text-warn">Not verified with the installed packages yet.</p>}
        </div>
        {published ? (
          <Tip label="Available to all your agents">
            <span className="flex shrink-0 items-center gap-1 rounded-full bg-accent-soft px-2 py-0.5 text-xs text-link">
              <Library className="size-3" aria-hidden />
              Published
            </span>
          </Tip>
        ) : (
          mayEdit && (
            <Button size="sm" look="ghost" onClick={() => setAsking('publish')}>
              Publish
            </Button>
          )
        )}
        {mayEdit && (
          <IconButton label={`Delete ${module.path}`} size="icon-sm" onClick={() => setAsking('delete')}>
            <Trash2 />
          </IconButton>
        )}
      </div>
      <Confirm
        open={asking === 'delete'}
        onClose={() => setAsking(null)}
        title={`Delete ${module.path}?`}
        action="Delete"
        onConfirm={() => void remove()}
      >
        Agents can no longer find it.{' '}
        {published ? 'Copies in their files are kept.' : 'Its file stays in the workspace.'}
      </Confirm>
      <Confirm
        open={asking === 'publish'}
        onClose={() => setAsking(null)}
        title={`Publish ${module.path}?`}
        action="Publish"
        onConfirm={() => void publish()}
      >
        All your agents can then find and run it, also in other projects. Review it first: an agent wrote it.
      </Confirm>
    </li>
  )
}

const Heading = ({ children }: { children: string }) => (
  <h3 className="mb-1.5 px-1 text-xs font-medium text-muted">{children}</h3>
)
