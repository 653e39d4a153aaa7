import { useQuery } from '@tanstack/react-query'
import { LayoutTemplate, Plus } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { PageData } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Dialog } from '@/components/dialog'
import { Problem } from '@/components/problem'
import { Empty, Skeleton } from '@/components/placeholders'
import { Since } from '@/components/time'
import { useKeyBindings } from '@/lib/key-bindings'
import { CreditsChip } from '@/features/account/credits-chip'
import { PeopleHere } from '@/features/shell/people-here'
import { useActiveProject } from '@/features/shell/active-project'
import { PageHeader } from '@/features/shell/shell'
import { NewPageForm } from './new-page-form'
import { PageBadge } from './page-badge'
import { PagePicture } from './page-picture'
import { pagesQuery, usePageNews } from './pages'

/** `/projects/:id/pages`: the pages of a project, newest first, and a button to create one. */
export default function PagesPage({ projectId }: { projectId: string }) {
  const { projectId: active, project, choose } = useActiveProject()
  const { data: pages, error, refetch } = useQuery(pagesQuery(projectId))
  const [, navigate] = useLocation()
  const [creating, setCreating] = useState(false)
  useEffect(() => choose(projectId), [projectId, choose])
  useEffect(() => {
    document.title = 'Pages · Outlast'
  }, [])
  usePageNews(projectId)
  const mayEdit = active === projectId && project !== null && project.role !== 'viewer'
  useKeyBindings({ p: () => mayEdit && setCreating(true) })
  const created = (page: PageData) => navigate(`/pages/${page.id}`)
  const shown = pages?.toSorted((one, other) => other.updated_at.localeCompare(one.updated_at))
  return (
    <>
      <PageHeader>
        <h1 className="truncate text-[14.5px] font-semibold">Pages</h1>
        <span className="flex-1" />
        <PeopleHere />
        <CreditsChip />
        {mayEdit && shown !== undefined && shown.length > 0 && (
          <Button size="sm" look="primary" onClick={() => setCreating(true)}>
            <Plus />
            New page
          </Button>
        )}
      </PageHeader>
      <div className="min-h-0 flex-1 overflow-y-auto">
        {error !== null && shown === undefined ? (
          <Problem className="m-4" error={error} retry={() => void refetch()} />
        ) : shown === undefined ? (
          <div role="status" aria-label="Loading the pages" className={GRID}>
            {[0, 1, 2].map((one) => (
              <Skeleton key={one} className="h-56 rounded-2xl" />
            ))}
          </div>
        ) : shown.length === 0 ? (
          <NoPages mayEdit={mayEdit} projectId={projectId} onCreated={created} />
        ) : (
          <ul aria-label="Pages" className={GRID}>
            {shown.map((page) => (
              <PageCard key={page.id} page={page} />
            ))}
          </ul>
        )}
      </div>
      <Dialog
        open={creating}
        onClose={() => setCreating(false)}
        title="New page"
        description="Describe what it should show. You can leave: the work continues."
        className="sm:ml-[-20rem] sm:w-[40rem]"
      >
        <Focused>
          <NewPageForm projectId={projectId} onCreated={created} />
        </Focused>
      </Dialog>
    </>
  )
}

const GRID = 'mx-auto grid w-full max-w-6xl grid-cols-[repeat(auto-fill,minmax(min(100%,17rem),1fr))] gap-4 p-4 md:p-6'

const PageCard = ({ page }: { page: PageData }) => (
  <li data-page-card={page.id}>
    <Link
      href={`/pages/${page.id}`}
      className="group block overflow-hidden rounded-2xl border border-line bg-raised transition-[border-color,box-shadow] hover:border-line-strong hover:shadow-pop"
    >
      <div className="border-b border-line">
        <PagePicture page={page} />
      </div>
      <div className="px-3.5 py-2.5">
        <p className="truncate font-medium">{page.title}</p>
        <p className="mt-0.5 flex items-center gap-2 text-xs text-faint">
          <PageBadge state={page.state} />
          <span aria-hidden>·</span>
          <Since iso={page.updated_at} className="truncate" />
        </p>
      </div>
    </Link>
  </li>
)

interface NoPagesProps {
  mayEdit: boolean
  projectId: string
  onCreated: (page: PageData) => void
}

const NoPages = ({ mayEdit, projectId, onCreated }: NoPagesProps) =>
  mayEdit ? (
    <div className="mx-auto w-full max-w-2xl px-4 pt-[8vh] pb-8 sm:pt-[14vh]">
      <div className="mb-6 text-center">
        <div className="mx-auto mb-4 grid size-11 place-items-center rounded-2xl border border-line bg-raised text-muted">
          <LayoutTemplate className="size-5" aria-hidden />
        </div>
        <h2 className="text-2xl font-semibold tracking-tight">What should the page show?</h2>
        <p className="mx-auto mt-1.5 max-w-md text-muted">
          A page is live: an agent looks things up, runs code against your services and builds it, and changes it when
          you click or ask.
        </p>
      </div>
      <NewPageForm projectId={projectId} onCreated={onCreated} />
    </div>
  ) : (
    <Empty className="pt-[20vh]" icon={<LayoutTemplate />} title="No pages yet">
      Pages of this project appear here. To create one, ask an owner for the editor role.
    </Empty>
  )

/** Focuses the form at once; not on a phone, where the keyboard would cover the choices. */
function Focused({ children }: { children: React.ReactNode }) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!matchMedia('(pointer: coarse)').matches) box.current?.querySelector<HTMLElement>('[data-composer]')?.focus()
  }, [])
  return <div ref={box}>{children}</div>
}
