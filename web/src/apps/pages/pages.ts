/** A project's pages, updated by its stream, and requests about one of them. */
import { queryOptions } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { OutlastEvent, PageData } from '@outlast/sdk'
import { useEvents } from '@outlast/sdk/react'
import { client, everyItem, newer, queryClient, showNews, withItem } from '@/lib/queries'
import { useFreshOnceLive } from '@/features/shell/active-project'

/** All pages of a project, without their HTML. */
export const pagesQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['pages', projectId],
    queryFn: ({ signal }) => everyItem((options) => client.pages.list(projectId, { ...options, signal })),
    staleTime: Infinity, // updated by the project's stream
  })

/** A page's metadata; `LivePage` follows its HTML. */
export const pageQuery = (pageId: string) =>
  queryOptions({
    queryKey: ['page', pageId],
    queryFn: ({ signal }) => client.pages.get(pageId, signal),
    staleTime: Infinity,
  })

/** A page's HTML for its thumbnail in a list: loaded once per version. */
export const pictureQuery = (page: PageData) =>
  queryOptions({
    queryKey: ['page-picture', page.id, page.version],
    queryFn: async ({ signal }) => (await client.pages.get(page.id, signal)).html,
    staleTime: Infinity,
    gcTime: 60_000,
  })

export const versionQuery = (pageId: string, version: number) =>
  queryOptions({
    queryKey: ['page-version', pageId, version],
    queryFn: ({ signal }) => client.pages.version(pageId, version, signal),
    staleTime: 60_000,
  })

/** Puts the server's latest state of a page into the loaded data. */
export function putPage(page: PageData): void {
  showNews<PageData[]>(pagesQuery(page.project_id).queryKey, (all) => withItem(all, page))
  queryClient.setQueryData<PageData>(pageQuery(page.id).queryKey, (one) =>
    one === undefined ? page : newer(one, page),
  )
}

export function dropPage(projectId: string, pageId: string): void {
  showNews<PageData[]>(pagesQuery(projectId).queryKey, (all) => all.filter(({ id }) => id !== pageId))
  queryClient.removeQueries({ queryKey: pageQuery(pageId).queryKey })
}

/** Updates a project's pages from its stream; `onGone` is called with each page that was deleted. */
export function usePageNews(projectId: string, onGone?: (pageId: string) => void): void {
  useEvents(
    useCallback(
      (event: OutlastEvent) => {
        if (event.event === 'page.created' || event.event === 'page.updated') {
          if (event.data.page.project_id === projectId) putPage(event.data.page)
        } else if (event.event === 'page.deleted') {
          dropPage(projectId, event.data.page_id)
          onGone?.(event.data.page_id)
        }
      },
      [projectId, onGone],
    ),
  )
  useFreshOnceLive(pagesQuery(projectId).queryKey)
}
