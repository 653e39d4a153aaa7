/** Where a thread is read: beside what it is about, or on a page of its own. Pure. */
import type { Thread } from '@outlast/sdk'

type Anchored = Pick<Thread, 'anchor'>

/** The screen that a thread is about; null where it is about none. */
export const screenOf = (thread: Anchored): string | null => anchored(thread, 'screen')

/** The page that a thread is about; null where it is about none. */
export const pageOf = (thread: Anchored): string | null => anchored(thread, 'page')

/** The document that a thread is about, wholly or in part; null where it is about none. */
export function documentOf({ anchor }: Anchored): string | null {
  const { type, id, document_id } = anchor ?? {}
  const found = type === 'document' ? id : document_id
  return typeof found === 'string' ? found : null
}

function anchored({ anchor }: Anchored, noun: string): string | null {
  const { type, id } = anchor ?? {}
  return type === noun && typeof id === 'string' ? id : null
}

/** The address of a conversation about a document. */
export const besideDocument = (documentId: string, threadId: string): string =>
  `/documents/${documentId}?panel=thread&item=${threadId}`

export function hrefOf(thread: Pick<Thread, 'id' | 'anchor'>): string {
  const [screen, page, document] = [screenOf(thread), pageOf(thread), documentOf(thread)]
  if (screen !== null) return `/screens/${screen}`
  if (page !== null) return `/pages/${page}`
  if (document !== null) return besideDocument(document, thread.id)
  return `/threads/${thread.id}`
}
