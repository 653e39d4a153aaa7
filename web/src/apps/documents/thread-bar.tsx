import {
  Archive,
  ArchiveRestore,
  Check,
  ChevronDown,
  Ellipsis,
  FileText,
  GitFork,
  Heading,
  MessageSquareText,
  ScrollText,
  SquareArrowOutUpRight,
  TextQuote,
  type LucideIcon,
} from 'lucide-react'
import { useMemo } from 'react'
import { useLocation } from 'wouter'
import type { Thread } from '@outlast/sdk'
import { useSelected } from '@outlast/sdk/react'
import { IconButton } from '@/components/button'
import { StatusDot } from '@/components/status-dot'
import { Menu, MenuItem, MenuLabel, MenuLine } from '@/components/menu'
import { complain } from '@/components/toast'
import { cn } from '@/lib/cn'
import { client } from '@/lib/queries'
import { useOutline } from './comments/comment-store'
import { putDocumentThread, useDocumentThreads } from './comments/document-threads'
import { FamilyButton } from '@/features/threads/family-tree'
import { useFork } from '@/features/threads/fork-button'
import { patchThreads } from '@/features/threads/threads'
import { useOpenThread } from '@/features/threads/thread-context'
import { shownAnchor, type AnchorKind, type ShownAnchor } from './anchors'
import { useDocumentRoom } from './document-context'

const ANCHOR_ICONS: Record<AnchorKind, LucideIcon> = {
  document: FileText,
  section: Heading,
  comment: MessageSquareText,
  selection: TextQuote,
}

const titleOf = ({ title }: Pick<Thread, 'title'>, anchor: ShownAnchor): string =>
  title !== '' ? title : anchor.kind === 'document' ? 'About the document' : anchor.text

/** The current conversation, what it is about, and a menu of the others. */
export function ThreadBar() {
  const { thread } = useOpenThread()
  const anchor = useAnchor(thread)
  return (
    <div className="shrink-0 border-b border-line">
      <div className="flex h-10 items-center gap-0.5 pr-1.5 pl-1.5">
        <Chooser thread={thread} anchor={anchor} />
        <span className="flex-1" />
        <FamilyButton thread={thread} />
        <BarMenu thread={thread} />
      </div>
      {anchor.kind !== 'document' && <AnchorChip anchor={anchor} />}
    </div>
  )
}

function useAnchor(thread: Thread): ShownAnchor {
  const { store } = useDocumentRoom()
  const sections = useOutline()
  const comments = useSelected(store, (snapshot) => snapshot.comments)
  return useMemo(() => shownAnchor(thread, sections, comments), [thread, sections, comments])
}

/** The subject of the conversation; a click scrolls to it. */
function AnchorChip({ anchor }: { anchor: ShownAnchor }) {
  const { openPanel, scrollToBlock, scrollToSection } = useDocumentRoom()
  const Icon = ANCHOR_ICONS[anchor.kind]
  const lead = () => {
    if (anchor.comment_id !== null) openPanel('comments', anchor.comment_id)
    if (anchor.block_id !== null) scrollToBlock(anchor.block_id)
    else if (anchor.section_id !== null) scrollToSection(anchor.section_id)
  }
  return (
    <button
      data-anchor={anchor.kind}
      disabled={anchor.gone}
      title={anchor.gone ? 'No longer in the document' : 'Show in the document'}
      className="flex w-full items-center gap-2 border-t border-line bg-side px-3 py-1.5 text-left text-[13px] text-muted enabled:hover:text-fg pointer-coarse:py-2.5"
      onClick={lead}
    >
      <Icon className="size-3.5 shrink-0 text-faint" aria-hidden />
      <span className={cn('min-w-0 flex-1 truncate', anchor.gone && 'line-through decoration-faint')}>
        {anchor.text}
      </span>
    </button>
  )
}

/** All conversations about the document, grouped by subject. */
function Chooser({ thread, anchor }: { thread: Thread; anchor: ShownAnchor }) {
  const { documentId, store, openPanel } = useDocumentRoom()
  const { threads } = useDocumentThreads(documentId)
  const sections = useOutline()
  const comments = useSelected(store, (snapshot) => snapshot.comments)
  const shown = (threads ?? [thread]).map((one) => ({ thread: one, anchor: shownAnchor(one, sections, comments) }))
  const open = shown.filter((one) => one.thread.status === 'open')
  const archived = shown.filter((one) => one.thread.status === 'archived')
  return (
    <Menu
      className="w-80 max-w-[92vw]"
      trigger={
        <button
          data-thread-chooser
          aria-label={`Conversation: ${titleOf(thread, anchor)}. Show another`}
          className="flex h-8 min-w-0 items-center gap-1.5 rounded-lg px-2 font-medium hover:bg-hover pointer-coarse:h-10"
        >
          <StatusDot
            status={thread.run_status}
            className={thread.run_status === 'idle' || thread.run_status === 'complete' ? 'hidden' : ''}
          />
          <span className="truncate">{titleOf(thread, anchor)}</span>
          {open.length > 1 && <span className="text-xs text-faint tabular-nums">{open.length}</span>}
          <ChevronDown className="size-3.5 shrink-0 text-faint" aria-hidden />
        </button>
      }
    >
      <MenuLabel>Conversations about this document</MenuLabel>
      {open.map((one) => (
        <Choice
          key={one.thread.id}
          {...one}
          here={one.thread.id === thread.id}
          onChoose={(id) => openPanel('thread', id)}
        />
      ))}
      {archived.length > 0 && (
        <>
          <MenuLine />
          <MenuLabel>Archived</MenuLabel>
          {archived.map((one) => (
            <Choice
              key={one.thread.id}
              {...one}
              here={one.thread.id === thread.id}
              onChoose={(id) => openPanel('thread', id)}
            />
          ))}
        </>
      )}
    </Menu>
  )
}

interface ChoiceProps {
  thread: Thread
  anchor: ShownAnchor
  here: boolean
  onChoose: (threadId: string) => void
}

function Choice({ thread, anchor, here, onChoose }: ChoiceProps) {
  const Icon = thread.parent_thread_id === null ? ANCHOR_ICONS[anchor.kind] : GitFork
  return (
    <MenuItem data-thread-choice={thread.id} onSelect={() => onChoose(thread.id)}>
      <Icon />
      <span className="min-w-0 flex-1">
        <span className="block truncate">{titleOf(thread, anchor)}</span>
        {anchor.kind !== 'document' && thread.title !== '' && (
          <span className="block truncate text-xs text-faint">{anchor.text}</span>
        )}
      </span>
      <StatusDot status={thread.run_status} />
      {here && <Check className="text-link!" />}
    </MenuItem>
  )
}

function BarMenu({ thread }: { thread: Thread }) {
  const { mayEdit } = useDocumentRoom()
  const [, navigate] = useLocation()
  const [fork] = useFork()
  const archived = thread.status === 'archived'
  const archive = () => {
    const change = archived ? client.unarchive(thread.id) : client.archive(thread.id)
    change.then((changed) => (patchThreads(changed), putDocumentThread(changed)), complain)
  }
  return (
    <Menu
      align="end"
      trigger={
        <IconButton label="Conversation menu" size="icon-sm">
          <Ellipsis />
        </IconButton>
      }
    >
      {mayEdit && (
        <>
          <MenuItem onSelect={() => fork()}>
            <GitFork />
            Fork thread
          </MenuItem>
          <MenuItem onSelect={() => fork({ summary: true })}>
            <ScrollText />
            Fork with a summary
          </MenuItem>
          <MenuItem onSelect={archive}>
            {archived ? <ArchiveRestore /> : <Archive />}
            {archived ? 'Unarchive' : 'Archive'}
          </MenuItem>
        </>
      )}
      <MenuItem onSelect={() => navigate(`/threads/${thread.id}`)}>
        <SquareArrowOutUpRight />
        Open as full page
      </MenuItem>
    </Menu>
  )
}
