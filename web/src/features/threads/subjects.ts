/** The subjects of threads, as the apps declare them. Pure. */
import type { Thread } from '@outlast/sdk'
import type { App, Subject } from '@/lib/apps'

type Anchored = Pick<Thread, 'anchor'>

/** The subject of a thread with its id; null if the thread has no subject. */
export function subjectOf(apps: readonly App[], { anchor }: Anchored): { subject: Subject; id: string } | null {
  if (anchor === null) return null
  for (const { subject } of apps) {
    const id = subject?.idOf(anchor) ?? null
    if (subject !== undefined && id !== null) return { subject, id }
  }
  return null
}

/** The path where a thread is read: next to its subject, or on a page of its own. */
export function threadHref(apps: readonly App[], thread: Pick<Thread, 'id' | 'anchor'>): string {
  const about = subjectOf(apps, thread)
  return about === null ? `/threads/${thread.id}` : about.subject.href(about.id, thread.id)
}

/** The path of a thread that shares its forks with `thread`. Only the server knows which subjects are copies. */
export function relatedHref(apps: readonly App[], thread: Anchored, relatedId: string): string {
  const about = subjectOf(apps, thread)
  const isShared = about?.subject.forksAre === 'about the same'
  return isShared ? about.subject.href(about.id, relatedId) : `/threads/${relatedId}`
}
