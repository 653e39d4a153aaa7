import { useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { ImageHost, OutlastEvent, ScreenData } from '@outlast/sdk'
import { useEvents } from '@outlast/sdk/react'
import { client } from '@/lib/queries'

const NONE: ImageHost[] = []

/** Other hosts from which a screen loads images, or wants to. Refreshed with each event of the screen: blocking,
 * allowing or removing a host is an event, though the screen itself stays the same. */
export function useImageHosts(screen: ScreenData): { hosts: ImageHost[]; refetch: () => Promise<unknown> } {
  const { data, refetch } = useQuery({
    queryKey: ['image-hosts', screen.id],
    queryFn: ({ signal }) => client.screens.imageHosts(screen.id, signal),
    staleTime: 0,
  })
  useEvents(
    useCallback(
      (event: OutlastEvent) => {
        if (event.event === 'screen.updated' && event.data.screen.id === screen.id) void refetch()
      },
      [screen.id, refetch],
    ),
  )
  return { hosts: data?.items ?? NONE, refetch }
}
