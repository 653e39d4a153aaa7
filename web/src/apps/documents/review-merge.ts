import { useQuery } from '@tanstack/react-query'
import type { BlockData, EditData, MergeData } from '@outlast/sdk'
import { client } from '@/lib/queries'
import { useDocumentRoom } from './document-context'
import { useSelected } from '@outlast/sdk/react'

/** Whether two texts say the same. */
export const same = (one: string, other: string): boolean => one.trimEnd() === other.trimEnd()

export type Standing =
  /** The text is as the agent saw it. */
  | { kind: 'fresh' }
  /** It is another now; how the two come together is being asked. */
  | { kind: 'asking' }
  /** Somebody changed other words: accepting keeps both. */
  | { kind: 'merged'; merge: MergeData & { text: string }; block: BlockData }
  /** Someone changed the same text. */
  | { kind: 'conflict'; merge: MergeData; block: BlockData }
  | { kind: 'failed'; error: Error; retry: () => void }

/** How an edit stands to the text as it is now. */
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

/** Somebody changed a text that the agent would delete: there is nothing to merge, only to choose. */
const deletion = ({ old_text: base }: EditData, { markdown: current }: BlockData): MergeData => ({
  base,
  current,
  wanted: '',
  text: null,
  hunks: [{ kind: 'conflict', base, current, wanted: '' }],
})
