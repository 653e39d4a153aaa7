import { useMutation, useQuery } from '@tanstack/react-query'
import { Link2, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { PageData, PageLink } from '@outlast/sdk'
import { IconButton } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { CopyButton } from '@/components/copy'
import { Dialog } from '@/components/dialog'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { fullTime } from '@/lib/format'
import { client, queryClient } from '@/lib/queries'
import { type Expiring, ExpiringForm } from '@/components/expiring-form'

const linksKey = (pageId: string) => ['page-links', pageId]

interface ShareDialogProps {
  page: PageData
  open: boolean
  onClose: () => void
}

/** Links that show the page live and read-only, on any site. */
export const ShareDialog = ({ page, open, onClose }: ShareDialogProps) => (
  <Dialog
    open={open}
    onClose={onClose}
    title="Share this page"
    description="Anyone with a link can view the page live, but cannot use it. Nothing else in the project is shared."
    className="sm:ml-[-17rem] sm:w-[34rem]"
  >
    <NewLink page={page} />
    <Links page={page} />
  </Dialog>
)

function NewLink({ page }: { page: PageData }) {
  const create = useMutation({
    mutationFn: ({ name, ...rest }: Expiring) => client.pages.link(page.id, { ...rest, ...(name !== '' && { name }) }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: linksKey(page.id) }),
  })
  return (
    <>
      <ExpiringForm
        draftKey={`link ${page.id}`}
        label="Name of the link"
        placeholder="Where is it used? For example, team wiki"
        action="Create link"
        create={create}
      />
      {create.data !== undefined && (
        <div data-new-link className="mt-3 space-y-3 rounded-xl border border-line bg-side p-3">
          <p className="text-muted">Copy the link now. You won’t be able to see it again.</p>
          <Copied label="Link" text={create.data.url} />
          <Copied label="HTML for another site" text={create.data.frame} />
        </div>
      )}
    </>
  )
}

const Copied = ({ label, text }: { label: string; text: string }) => (
  <div>
    <p className="mb-1 text-xs text-faint">{label}</p>
    <div className="flex items-center gap-2">
      <code className="max-h-24 min-w-0 flex-1 overflow-y-auto rounded-lg border border-line bg-bg px-2.5 py-2 font-mono text-xs break-all select-all">
        {text}
      </code>
      <CopyButton text={text} />
    </div>
  </div>
)

function Links({ page }: { page: PageData }) {
  const { data, error, refetch } = useQuery({
    queryKey: linksKey(page.id),
    queryFn: async ({ signal }) => (await client.pages.links(page.id, signal)).items,
  })
  const [leaving, setLeaving] = useState<PageLink | null>(null)
  const revoke = useMutation({
    mutationFn: (link: PageLink) => client.pages.revokeLink(page.id, link.id),
    onSettled: () => void queryClient.invalidateQueries({ queryKey: linksKey(page.id) }),
  })
  if (error !== null) return <Problem className="mt-4" error={error} retry={() => void refetch()} />
  if (data === undefined)
    return (
      <div className="mt-4">
        <SkeletonRows rows={2} className="h-11" />
      </div>
    )
  if (data.length === 0)
    return (
      <Empty className="py-8" icon={<Link2 />} title="No links yet">
        Only members of the project see this page.
      </Empty>
    )
  return (
    <>
      <ul aria-label="Links" className="-mx-2 mt-4">
        {data.map((link) => (
          <li
            key={link.id}
            data-link={link.id}
            className="flex items-center gap-2.5 rounded-lg px-2 py-1.5 hover:bg-hover"
          >
            <Link2 className="size-4 text-faint" aria-hidden />
            <span className="min-w-0 flex-1">
              <span className="block truncate">{link.name === '' ? 'Link' : link.name}</span>
              <span className="block text-xs text-faint">
                {link.expires_at === null ? 'never expires' : `expires ${fullTime(link.expires_at)}`}
              </span>
            </span>
            <IconButton
              label={`Revoke ${link.name === '' ? 'the link' : link.name}`}
              size="icon-sm"
              onClick={() => setLeaving(link)}
            >
              <Trash2 />
            </IconButton>
          </li>
        ))}
      </ul>
      {revoke.error !== null && <Problem className="mt-2" error={revoke.error} />}
      <Confirm
        open={leaving !== null}
        onClose={() => setLeaving(null)}
        title="Revoke this link?"
        action="Revoke"
        onConfirm={() => leaving !== null && revoke.mutate(leaving)}
      >
        Anyone who uses it loses access to the page immediately.
      </Confirm>
    </>
  )
}
