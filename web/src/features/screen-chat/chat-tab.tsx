import { ThreadPage } from '../threads/thread-page'

/** The conversation about a screen. */
export function ChatTab({ screen }: { screen: { id: string; thread_id: string } }) {
  return <ThreadPage key={screen.id} threadId={screen.thread_id} />
}
