import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useSelected } from '@outlast/sdk/react'
import { client, queryClient } from '@/lib/queries'
import { useDocumentRoom } from './document-context'

const PAGE = 100
const GATHER_MS = 400

/** All loaded versions, newest first, updated while they are shown. */
export function useHistory() {
  const { documentId, store } = useDocumentRoom()
  const version = useSelected(store, ({ content }) => content.version)
  const queryKey = ['document-versions', documentId]
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      client.documents.versions(documentId, {
        limit: PAGE,
        signal,
        ...(pageParam !== null && { before: pageParam }),
      }),
    initialPageParam: null as number | null,
    getNextPageParam: (last) => last.next,
  })
  useEffect(() => {
    const timer = setTimeout(
      () =>
        void queryClient.invalidateQueries({ queryKey: ['document-versions', documentId] }, { cancelRefetch: false }),
      GATHER_MS,
    )
    return () => clearTimeout(timer)
  }, [version, documentId])
  return { ...query, items: query.data?.pages.flatMap(({ items }) => items) ?? [], now: version }
}
