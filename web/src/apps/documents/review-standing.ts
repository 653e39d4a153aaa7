import { useQuery } from '@tanstack/react-query'
import type { BlockData, EditData, MergeData } from '@outlast/sdk'
import { client } from '@/lib/queries'
import { useDocumentRoom } from './document-context'
import { useSelected } from '@outlast/sdk/react'

/** True if two texts are equal. */
export const same = (one: string, other: string): boolean => one.trimEnd() === other.trimEnd()

export type Standing =
  /** The text is unchanged since the agent read it. */
  | { kind: 'fresh' }
  /** The text has changed; the merge is being requested. */
  | { kind: 'asking' }
  /** Another user changed other words: accepting keeps both changes. */
  | { kind: 'merged'; merge: MergeData & { text: string }; block: BlockData }
  /** Another user changed the same text. */
  | { kind: 'conflict'; merge: MergeData; block: BlockData }
  | { kind: 'failed'; error: Error; retry: () => void }

/** How an edit applies to the current text. */
export function useStanding(edit: EditData): Standing {
  const { store } = useDocumentRoom()
  const block = useSelected(store, ({ content }) =>
    edit.block_id === null ? null : (content.blocks[edit.block_id] ?? null),
  )
  const moved =
    block !== null &&
    edit.state === 'open' &&
    (edit.op === 'replace' || edit.op === 'delete') &&
    !same(block.markdown, edit.old_text)
  const { data, error, refetch } = useQuery({
    queryKey: ['merge', edit.id, block?.markdown ?? ''],
    queryFn: ({ signal }) => client.documents.merge(edit.id, signal),
    enabled: moved,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (!moved) return { kind: 'fresh' }
  if (edit.op === 'delete') return { kind: 'conflict', block, merge: deletion(edit, block) }
  if (error !== null) return { kind: 'failed', error, retry: () => void refetch() }
  if (data === undefined) return { kind: 'asking' }
  if (data.text === null) return { kind: 'conflict', merge: data, block }
  return { kind: 'merged', merge: { ...data, text: data.text }, block }
}

/** Another user changed a text that the agent would delete: there is nothing to merge, only a choice. */
const deletion = ({ old_text: base }: EditData, { markdown: current }: BlockData): MergeData => ({
  base,
  current,
  wanted: '',
  text: null,
  hunks: [{ kind: 'conflict', base, current, wanted: '' }],
})
