import { MessageSquarePlus, MessageSquareText } from 'lucide-react'
import { useCallback, useEffect, useMemo, useState } from 'react'
import type { CommentData, SectionNode } from '@outlast/sdk'
import { useSelected } from '@outlast/sdk/react'
import { Button } from '@/components/button'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { cn } from '@/lib/cn'
import { useNarrow } from '@/lib/use-narrow'
import { client } from '@/lib/queries'
import { useDocumentRoom } from '../document-context'
import { useMe } from '@/features/session/session-gate'
import { CommentCard } from './comment-card'
import { setAbout, useAbout, WHOLE, type About } from './comment-draft'
import { useOutline, useCommentThreads } from './comment-store'
import { useDocumentThreads } from './document-threads'
import { NewComment } from './new-comment'
import { placeName } from './place-name'
import { CardList } from './card-list'
import { Rail, type RailItem } from './rail'
import { orderOf, filterComments, type Shown, type CommentThread } from './comment-threads'

const FILTERS: Record<Shown, string> = { open: 'Open', resolved: 'Resolved', all: 'All' }
const DRAFT = 'draft'

/** All comments on the document: next to the text they are about, or as a list on a phone. */
export function CommentsView({ item }: { item: string | null }) {
  const { documentId, store, mayEdit, openPanel } = useDocumentRoom()
  const talks = useCommentThreads()
  const loading = useSelected(store, (snapshot) => snapshot.loading)
  const sections = useOutline()
  const narrow = useNarrow()
  const [filter, setFilter] = useState<Shown>('open')
  const about = useAbout('comment', documentId)
  const chosen = useChosen(item, talks, filter, setFilter)
  const shown = useMemo(() => filterComments(talks, filter, sections), [talks, filter, sections])
  const items = useItems({ shown, sections, about: mayEdit ? about : null, chosen, narrow })
  const open = talks.filter(({ root }) => root.status === 'open').length
  const write = () => {
    setAbout('comment', documentId, WHOLE)
    openPanel('comments')
  }
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex items-center gap-1 border-b border-line px-2.5 py-1.5">
        <div role="group" aria-label="Filter comments" className="flex flex-1 gap-0.5 text-xs">
          {(Object.entries(FILTERS) as [Shown, string][]).map(([name, label]) => (
            <button
              key={name}
              aria-pressed={filter === name}
              className={cn(
                'rounded-full px-2.5 py-1 pointer-coarse:py-2',
                filter === name ? 'bg-active font-medium' : 'text-muted hover:text-fg',
              )}
              onClick={() => setFilter(name)}
            >
              {label}
              {name === 'open' && open > 0 && <span className="ml-1 text-faint tabular-nums">{open}</span>}
            </button>
          ))}
        </div>
        {mayEdit && (
          <Button size="sm" look="ghost" onClick={write} title="Comment on the whole document">
            <MessageSquarePlus />
            Comment
          </Button>
        )}
      </div>
      {loading && talks.length === 0 && (
        <div className="p-3">
          <SkeletonRows rows={3} className="h-20 rounded-xl" />
        </div>
      )}
      {!loading && items.length === 0 && <Nothing filter={filter} mayEdit={mayEdit} />}
      {items.length > 0 &&
        (narrow ? (
          <CardList items={items} chosen={chosen} />
        ) : (
          <Rail
            items={items}
            chosen={about !== null && mayEdit ? DRAFT : chosen}
            onLeave={() => openPanel('comments')}
          />
        ))}
    </div>
  )
}

/** The comment that a link, a mark or a click named. If the filter hides it, the filter is widened. */
function useChosen(
  item: string | null,
  talks: readonly CommentThread[],
  filter: Shown,
  setFilter: (filter: Shown) => void,
): string | null {
  const me = useMe()
  const talk = talks.find(({ root, answers }) => root.id === item || answers.some(({ id }) => id === item))
  const hidden = talk !== undefined && filter !== 'all' && talk.root.status !== filter
  const id = talk?.root.id ?? null
  useEffect(() => {
    if (hidden) setFilter('all')
    // Only when another comment is chosen: resolving the chosen one leaves the filter unchanged.
    // oxlint-disable-next-line exhaustive-deps
  }, [id])
  const named = talk !== undefined && [talk.root, ...talk.answers].some((one) => concerns(one, me.user.id))
  const asked = `${id ?? ''} ${talk?.answers.length ?? 0}`
  useEffect(() => {
    // Reading it removes it from the inbox.
    if (named && id !== null) client.documents.getComment(id).catch(() => undefined)
  }, [named, id, asked])
  return id
}

const concerns = ({ mentions, assigned_to }: CommentData, me: string) => mentions.includes(me) || assigned_to === me

interface ItemsOptions {
  shown: ReturnType<typeof filterComments>
  sections: readonly SectionNode[]
  about: About | null
  chosen: string | null
  narrow: boolean
}

function useItems({ shown, sections, about, chosen, narrow }: ItemsOptions): RailItem[] {
  const { documentId, openPanel, scrollToBlock, scrollToSection } = useDocumentRoom()
  const { threads } = useDocumentThreads(documentId)
  const show = useCallback(
    ({ id, block_id, section_id, orphaned }: CommentData) => {
      openPanel('comments', id)
      if (narrow || orphaned) return
      if (block_id !== null) intoView(block_id, scrollToBlock)
      else if (section_id !== null) intoView(section_id, scrollToSection)
    },
    [narrow, openPanel, scrollToBlock, scrollToSection],
  )
  return useMemo(() => {
    const items = shown.map((talk): RailItem => {
      const { root } = talk
      const place = narrow || root.block_id === null ? placeName(sections, root) : null
      const thread = threads?.find(({ id }) => id === root.thread_id)
      return {
        id: root.id,
        about: root,
        card: <CommentCard talk={talk} thread={thread} chosen={root.id === chosen} place={place} onChoose={show} />,
      }
    })
    if (about === null) return items
    const place = narrow || about.block_id === null ? placeName(sections, about) : null
    const done = (id: string | null) => {
      setAbout('comment', documentId, null)
      if (id !== null) openPanel('comments', id)
    }
    const draft = { id: DRAFT, about, card: <NewComment about={about} place={place} onDone={done} /> }
    const order = orderOf(sections)
    const at = narrow ? 0 : shown.findIndex(({ root }) => order(root) > order(about))
    return items.toSpliced(at === -1 ? items.length : at, 0, draft)
  }, [shown, sections, about, chosen, narrow, threads, documentId, openPanel, show])
}

/** Scrolls only if the target is out of sight, so that the text stays where it is being read. */
function intoView(id: string, show: (id: string) => void): void {
  const element = document.querySelector(`[data-block-id="${CSS.escape(id)}"],[data-section-id="${CSS.escape(id)}"]`)
  const { top = -1, bottom = -1 } = element?.getBoundingClientRect() ?? {}
  if (bottom < 100 || top > innerHeight - 80) show(id)
}

const Nothing = ({ filter, mayEdit }: { filter: Shown; mayEdit: boolean }) =>
  filter === 'resolved' ? (
    <Empty icon={<MessageSquareText />} title="No resolved comments yet">
      Resolved comments and their replies stay here.
    </Empty>
  ) : (
    <Empty icon={<MessageSquareText />} title={filter === 'open' ? 'No open comments' : 'No comments yet'}>
      {mayEdit
        ? 'Select words in the text to comment on them, or to ask the agent about them.'
        : 'Comments by others appear here.'}
    </Empty>
  )
