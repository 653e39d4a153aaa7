import { useMutation } from '@tanstack/react-query'
import { Images } from 'lucide-react'
import type { ImageHost, ScreenData } from '@outlast/sdk'
import { IconButton } from '@/components/button'
import { Menu, MenuItem, MenuLabel } from '@/components/menu'
import { complain } from '@/components/toast'
import { client } from '@/lib/queries'
import { useCanvas } from './canvas-context'
import { useImageHosts } from './image-hosts'
import { useFrameRegistry } from './live-frame'

/** Other hosts of a screen's images: editors allow or block each. Nothing if there are none. */
export function ImageHostsMenu({ screen }: { screen: ScreenData }) {
  const { mayEdit } = useCanvas()
  const { reload } = useFrameRegistry()
  const { hosts, refetch } = useImageHosts(screen)
  const change = useMutation({
    mutationFn: ({ host, allowed_at }: ImageHost): Promise<unknown> =>
      allowed_at === null
        ? client.screens.allowImageHost(screen.id, host)
        : client.screens.removeImageHost(screen.id, host),
    onSuccess: async () => {
      await refetch()
      reload(screen.id)
    },
    onError: complain,
  })
  if (hosts.length === 0) return null
  return (
    <Menu
      align="end"
      trigger={
        <IconButton label="Images from other hosts" size="icon-sm">
          <Images />
        </IconButton>
      }
    >
      <MenuLabel>Images from other hosts</MenuLabel>
      {hosts.map((host) => (
        <MenuItem
          key={host.host}
          checked={host.allowed_at !== null}
          disabled={!mayEdit || change.isPending}
          onSelect={() => change.mutate(host)}
        >
          <span className="min-w-0">
            <span className="block truncate">{host.host}</span>
            <span className="block text-xs text-faint">{tooltipOf(host, mayEdit)}</span>
          </span>
        </MenuItem>
      ))}
    </Menu>
  )
}

function tooltipOf({ allowed_at }: ImageHost, mayEdit: boolean): string {
  if (allowed_at === null) return mayEdit ? 'Blocked. Click to allow' : 'Blocked'
  return mayEdit ? 'Allowed. Click to block' : 'Allowed'
}
