/** Actions on comments: each shows the server's answer at once, and an error next to its button. */
import { useState } from 'react'
import type { CommentData } from '@outlast/sdk'
import { complain, say } from '@/components/toast'
import { once } from '@/lib/idempotent-request'
import { client } from '@/lib/queries'
import { useDocumentRoom } from '../document-context'
import { useModelChoice } from '@/features/threads/model-choice'

export function useCommentActions({ id }: Pick<CommentData, 'id'>) {
  const { store } = useDocumentRoom()
  const { model } = useModelChoice()
  const [busy, setBusy] = useState<string | null>(null)
  const run = (what: string, action: () => Promise<void>) => {
    setBusy(what)
    action()
      .catch(complain)
      .finally(() => setBusy(null))
  }
  const change = (what: string, body: Parameters<typeof client.documents.changeComment>[1]) =>
    run(what, async () => store.tellComment(await client.documents.changeComment(id, body)))
  return {
    /** The action that is in progress. */
    busy,
    resolve: () => change('resolve', { status: 'resolved' }),
    reopen: () => change('resolve', { status: 'open' }),
    rewrite: (body: string) => change('rewrite', { body }),
    /** The other sections that the comment is about. */
    link: (linked_sections: string[]) => change('link', { linked_sections }),
    remove: () => run('remove', () => client.documents.deleteComment(id)),
    /** To the agent, to a member, or to no one (null). `then` is called with the id of the conversation if one was
     * started. */
    assign: (to: string | null, then?: (threadId: string) => void) =>
      run('assign', async () => {
        const body = { to, ...(to === 'agent' && model !== null && { model: model.id }) }
        const answer = await once(`assign ${id} ${JSON.stringify(body)}`, (idempotencyKey) =>
          client.documents.assign(id, body, { idempotencyKey }),
        )
        store.tellComment(answer.comment)
        if (answer.thread_id !== null && to === 'agent') then?.(answer.thread_id)
        else if (to !== null) say(`Assigned to ${answer.comment.assigned_name ?? 'them'}.`)
      }),
  }
}
