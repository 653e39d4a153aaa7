import { FileText } from 'lucide-react'
import type { InboxEntry, InboxPlace } from '@/lib/apps'
import { client } from '@/lib/queries'
import { conversationHref } from './subject'

/** The place of an inbox item in a document; null if it is not about a document. */
export function inboxPlace(item: InboxEntry): InboxPlace | null {
  const { document_id, document_title, section_id } = item
  if (document_id === null) return null
  return {
    title: document_title ?? '',
    href: hrefOf(document_id, item),
    icon: FileText,
    ...(section_id !== null && { handOver: (userId) => client.documents.handOverSection(section_id, userId) }),
  }
}

function hrefOf(documentId: string, { kind, id, thread_id, comment_id }: InboxEntry): string {
  if (kind === 'proposal') return `/documents/${documentId}?panel=review&item=${id}`
  if (comment_id !== null) return `/documents/${documentId}?panel=comments&item=${comment_id}`
  return thread_id === null ? `/documents/${documentId}` : conversationHref(documentId, thread_id)
}
