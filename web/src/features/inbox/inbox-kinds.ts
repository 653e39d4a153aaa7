/** Kinds of inbox items, of the kernel and of the apps, and the place that an item opens. Pure. */
import { AtSign, CalendarClock, CircleHelp, Hand, Inbox, MessageSquare, ShieldQuestion } from 'lucide-react'
import type { App, InboxEntry, InboxKindView, InboxPlace } from '@/lib/apps'
import { client } from '@/lib/queries'

const OPEN = { label: 'Open' }

const KERNEL_KINDS: Readonly<Record<string, InboxKindView>> = {
  approval: {
    group: 'Approvals',
    icon: ShieldQuestion,
    tone: 'action',
    title: () => 'An agent asks for approval',
    actions: [
      { label: 'Approve', isPrimary: true, run: ({ id }) => client.decide(id, { decision: 'approve' }) },
      { label: 'Deny', run: ({ id }) => client.decide(id, { decision: 'deny' }) },
      OPEN,
    ],
  },
  question: {
    group: 'Questions',
    icon: CircleHelp,
    tone: 'action',
    title: () => 'An agent asks a question',
    actions: [{ label: 'Answer', isPrimary: true }],
  },
  handover: {
    group: 'Hand-over requests',
    icon: Hand,
    tone: 'action',
    title: ({ by_name }) => `${by_name ?? 'Someone'} asks you to hand over`,
    actions: [
      {
        label: 'Hand over',
        isPrimary: true,
        run: handOver,
        done: ({ by_name }) => `Handed over to ${by_name ?? 'the person who asked'}`,
      },
      OPEN,
    ],
  },
  mention: {
    group: 'Mentions',
    icon: AtSign,
    tone: 'news',
    title: ({ by_name }) => `${by_name ?? 'An agent'} mentioned you`,
    actions: [OPEN, { label: 'Mark as read', run: markRead }],
    read: markRead,
  },
  schedule: {
    group: 'Schedules',
    icon: CalendarClock,
    tone: 'news',
    title: () => 'Your schedule did not start a run',
    actions: [OPEN, { label: 'Dismiss', run: ({ id }) => client.schedules.seen(id) }],
    read: ({ id }) => client.schedules.seen(id),
  },
}

/** An item of a kind that this version does not know. */
const UNKNOWN: InboxKindView = {
  group: 'Other',
  icon: Inbox,
  tone: 'news',
  title: () => 'Something needs your attention',
  actions: [OPEN],
}

function markRead({ id }: InboxEntry): Promise<unknown> {
  return client.documents.readMention(id)
}

/** Gives the lock of a thread, or of a part of a subject, to the user who asked for it. */
function handOver({ thread_id, by }: InboxEntry, place: InboxPlace): Promise<unknown> {
  if (by === null) return Promise.reject(new Error('The person who asked has left.'))
  if (place.handOver !== undefined) return place.handOver(by)
  return thread_id === null ? Promise.reject(new Error('The thread was deleted.')) : client.handOverLock(thread_id, by)
}

/** All kinds, those of the kernel first. */
export const inboxKinds = (apps: readonly App[]): Readonly<Record<string, InboxKindView>> =>
  Object.assign({}, KERNEL_KINDS, ...apps.map(({ inbox }) => inbox?.kinds))

export const kindOf = (apps: readonly App[], { kind }: Pick<InboxEntry, 'kind'>): InboxKindView =>
  inboxKinds(apps)[kind] ?? UNKNOWN

/** The place that an item opens: in an app, or else its thread. */
export function placeOf(apps: readonly App[], item: InboxEntry): InboxPlace {
  for (const { inbox } of apps) {
    const place = inbox?.placeOf(item) ?? null
    if (place !== null) return place
  }
  const { thread_id, thread_title } = item
  if (item.kind === 'schedule')
    return { title: 'Schedules', href: `/projects/${item.project_id}/schedules`, icon: CalendarClock }
  return {
    title: thread_title ?? '',
    href: thread_id === null ? '/inbox' : `/threads/${thread_id}`,
    icon: MessageSquare,
  }
}
