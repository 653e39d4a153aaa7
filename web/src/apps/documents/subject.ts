/** The document that a thread is about. Pure. */
import type { Thread } from '@outlast/sdk'

/** The id of the document that an anchor is about, in whole or in part; null if it is about none. */
export function documentIdOf({ type, id, document_id }: NonNullable<Thread['anchor']>): string | null {
  const documentId = type === 'document' ? id : document_id
  return typeof documentId === 'string' ? documentId : null
}

/** The id of the document that a thread is about; null if it is about none. */
export const documentOf = ({ anchor }: Pick<Thread, 'anchor'>): string | null =>
  anchor === null ? null : documentIdOf(anchor)

/** The path of a conversation about a document. */
export const conversationHref = (documentId: string, threadId: string): string =>
  `/documents/${documentId}?panel=thread&item=${threadId}`
