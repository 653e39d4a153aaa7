import { queryOptions } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'
import type { OutlastEvent, ScreenData } from '@outlast/sdk'
import { useEvents } from '@outlast/sdk/react'
import { client, everyItem, newer, queryClient, showNews, withItem } from '@/lib/queries'
import { useFreshOnceLive } from '@/features/shell/active-project'

/** All screens of a project. */
export const screensQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['screens', projectId],
    queryFn: ({ signal }) => everyItem((options) => client.screens.list(projectId, { ...options, signal })),
    staleTime: Infinity, // updated by the project's stream
  })

export const screenQuery = (screenId: string) =>
  queryOptions({ queryKey: ['screen', screenId], queryFn: ({ signal }) => client.screens.get(screenId, signal) })

export const themesQuery = queryOptions({
  queryKey: ['themes'],
  queryFn: async ({ signal }) => (await client.screens.themes(signal)).items,
  staleTime: Infinity,
})

/** Puts the server's latest state of a screen into the loaded data. */
export function putScreen(screen: ScreenData): void {
  showNews<ScreenData[]>(screensQuery(screen.project_id).queryKey, (all) => withScreen(all, screen))
  queryClient.setQueryData<ScreenData>(screenQuery(screen.id).queryKey, (one) => one && mergeScreen(one, screen))
}

/** Shows a change of screens before the server confirms it; returns a function that reverts it. */
export function patchScreens(projectId: string, changes: ReadonlyMap<string, Partial<ScreenData>>): () => void {
  const key = screensQuery(projectId).queryKey
  const before = queryClient.getQueryData<ScreenData[]>(key)
  queryClient.setQueryData<ScreenData[]>(
    key,
    (all) => all && all.map((one) => (changes.has(one.id) ? { ...one, ...changes.get(one.id) } : one)),
  )
  return () => {
    const were = new Map(before?.map((one) => [one.id, one]))
    queryClient.setQueryData<ScreenData[]>(
      key,
      (all) => all && all.map((one) => (changes.has(one.id) ? (were.get(one.id) ?? one) : one)),
    )
  }
}

export function dropScreen(projectId: string, screenId: string): void {
  showNews<ScreenData[]>(screensQuery(projectId).queryKey, (all) => all.filter(({ id }) => id !== screenId))
}

/** The list with a screen in it. */
export const withScreen = (all: readonly ScreenData[], screen: ScreenData): ScreenData[] =>
  withItem(all, screen, mergeScreen)

/** Events omit the address of the app, which stays the same as long as its sandbox does. */
function mergeScreen(one: ScreenData, other: ScreenData): ScreenData {
  if (newer(one, other) === one) return one
  const previewUrl = other.sandbox_id === one.sandbox_id ? one.preview_url : null
  return { ...other, preview_url: other.preview_url ?? previewUrl }
}

export type ScreenNews = Extract<OutlastEvent, { event: 'screen.created' | 'screen.updated' | 'screen.deleted' }>

/** Updates a project's screens from its stream; `onNews` is called after each change was applied. */
export function useScreenNews(projectId: string, onNews: (news: ScreenNews, before: ScreenData | null) => void): void {
  const heard = useRef(onNews)
  useEffect(() => {
    heard.current = onNews
  })
  useEvents(
    useCallback(
      (event: OutlastEvent) => {
        if (event.event === 'screen.created' || event.event === 'screen.updated') {
          const { screen } = event.data
          if (screen.project_id !== projectId) return
          const before = findScreen(projectId, screen.id)
          putScreen(screen)
          heard.current(event, before)
        } else if (event.event === 'screen.deleted') {
          const before = findScreen(projectId, event.data.screen_id)
          dropScreen(projectId, event.data.screen_id)
          heard.current(event, before)
        }
      },
      [projectId],
    ),
  )
}

const findScreen = (projectId: string, screenId: string): ScreenData | null =>
  queryClient.getQueryData<ScreenData[]>(screensQuery(projectId).queryKey)?.find(({ id }) => id === screenId) ?? null

/** Data that was loaded before the stream opened may lack changes in between, so it is loaded again. */
export function useFreshScreens(projectId: string): void {
  useFreshOnceLive(screensQuery(projectId).queryKey)
}
