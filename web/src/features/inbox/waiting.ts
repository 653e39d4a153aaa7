/** What waits for somebody, in words, and where it is. Pure. */
import type { InboxItem, InboxKind } from '@outlast/sdk'
import { besideDocument } from '../threads/thread-place'

/** What a group of them is called. */
export const KINDS: Record<InboxKind, string> = {
  approval: 'Approvals',
  question: 'Questions',
  proposal: 'To review',
  handover: 'Hand-over requests',
  mention: 'Mentions',
  assigned: 'Assigned to you',
}

/** One line that says what is wanted, without its text. */
export function titleOf({ kind, by_name }: Pick<InboxItem, 'kind' | 'by_name'>): string {
  const who = by_name ?? 'Somebody'
  switch (kind) {
    case 'approval':
      return 'An agent asks for approval'
    case 'question':
      return 'An agent asks a question'
    case 'proposal':
      return 'An agent proposes edits'
    case 'handover':
      return `${who} asks you to hand over`
    case 'mention':
      return `${by_name ?? 'An agent'} mentioned you`
    case 'assigned':
      return `${who} gave you a comment`
  }
}

/** What it is about, by its title. */
export function placeOf({ document_title, thread_title }: Pick<InboxItem, 'document_title' | 'thread_title'>): string {
  const title = document_title ?? thread_title ?? ''
  return title === '' ? 'Untitled' : title
}

type Target = Pick<InboxItem, 'kind' | 'id' | 'thread_id' | 'document_id' | 'comment_id'>

/** Where one goes to see it. */
export function hrefOf({ kind, id, thread_id, document_id, comment_id }: Target): string {
  if (document_id !== null) {
    if (comment_id !== null && kind !== 'proposal') return `/documents/${document_id}?panel=comments&item=${comment_id}`
    if (kind === 'proposal') return `/documents/${document_id}?panel=review&item=${id}`
    return thread_id === null ? `/documents/${document_id}` : besideDocument(document_id, thread_id)
  }
  return thread_id === null ? '/inbox' : `/threads/${thread_id}`
}

/** Seen once it was looked at, and not by being decided. */
export const isRead = (kind: InboxKind): boolean => kind === 'mention' || kind === 'assigned'
