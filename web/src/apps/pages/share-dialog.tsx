import { useMutation, useQuery } from '@tanstack/react-query'
import { Link2, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { PageData, PageLink } from '@outlast/sdk'
import { Button, IconButton } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { CopyButton } from '@/components/copy'
import { Dialog } from '@/components/dialog'
import { Input, Select } from '@/components/field'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/states'
import { fullTime } from '@/lib/format'
import { useKeptText } from '@/lib/kept-text'
import { client, queryClient } from '@/lib/queries'

const linksKey = (pageId: string) => ['page-links', pageId]

interface ShareDialogProps {
  page: PageData
  open: boolean
  onClose: () => void
}

/** Links that show the page, read only and live, in any site. */
export const ShareDialog = ({ page, open, onClose }: ShareDialogProps) => (
  <Dialog
    open={open}
    onClose={onClose}
    title="Share this page"
    description="Whoever has a link sees the page and its changes as they come, and can do nothing on it. Nothing else of the project is shown."
    className="sm:ml-[-17rem] sm:w-[34rem]"
  >
    <NewLink page={page} />
    <Links page={page} />
  </Dialog>
)

function NewLink({ page }: { page: PageData }) {
  const [typed, setName] = useKeptText(`link ${page.id}`)
  const name = typed ?? ''
  const [days, setDays] = useState('90')
  const create = useMutation({
    mutationFn: () =>
      client.pages.link(page.id, {
        ...(name.trim() !== '' && { name: name.trim() }),
        ...(days !== '' && { expires_in_days: Number(days) }),
      }),
    onSuccess: () => {
      setName(null)
      void queryClient.invalidateQueries({ queryKey: linksKey(page.id) })
    },
  })
  return (
    <>
      <form
        className="flex flex-wrap gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          create.mutate()
        }}
      >
        <Input
          aria-label="Where the link is used"
          placeholder="Where is it used? e.g. team wiki"
          className="min-w-40 flex-1"
          value={name}
          maxLength={80}
          onChange={(event) => setName(event.target.value)}
        />
        <Select aria-label="Valid for" value={days} onChange={(event) => setDays(event.target.value)}>
          <option value="7">7 days</option>
          <option value="90">90 days</option>
          <option value="365">1 year</option>
          <option value="">for ever</option>
        </Select>
        <Button type="submit" look="primary" className="h-9" busy={create.isPending}>
          Make a link
        </Button>
      </form>
      {create.error !== null && <Problem className="mt-3" error={create.error} />}
      {create.data !== undefined && (
        <div data-new-link className="mt-3 space-y-3 rounded-xl border border-line bg-side p-3">
          <p className="text-muted">Copy it now. The link is not kept and cannot be shown again.</p>
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
              <span className="block truncate">{link.name === '' ? 'A link' : link.name}</span>
              <span className="block text-xs text-faint">
                {link.expires_at === null ? 'valid for ever' : `until ${fullTime(link.expires_at)}`}
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
        Whoever looks at the page through it sees no more of it, at once.
      </Confirm>
    </>
  )
}
