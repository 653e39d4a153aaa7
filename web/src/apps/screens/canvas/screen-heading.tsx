import { Palette } from 'lucide-react'
import type { ScreenData } from '@outlast/sdk'
import { IconButton } from '@/components/button'
import { ThemeSelector } from '../themes/theme-selector'
import { useCanvas } from './canvas-context'
import { TEMPLATES } from './new-screen-form'
import { ImageHostsMenu } from './image-hosts-menu'
import { StateBadge } from './screen-state-badge'
import { useScreenLook } from './use-screen-look'

/** On top of the sidebar: the title and state of the screen. */
export function ScreenHeading({ screen }: { screen: ScreenData }) {
  const { liveIds, mayEdit } = useCanvas()
  const look = useScreenLook(screen, liveIds.includes(screen.id))
  return (
    <>
      <div className="min-w-0 flex-1">
        <h2 className="truncate leading-tight font-semibold" title={screen.title}>
          {screen.title}
        </h2>
        <p className="flex items-center gap-2 text-xs text-faint">
          <StateBadge look={look} />
          <span aria-hidden>·</span>
          <span className="shrink-0">{TEMPLATES[screen.template].label}</span>
        </p>
      </div>
      <ImageHostsMenu screen={screen} />
      {mayEdit && (
        <ThemeSelector screen={screen}>
          <IconButton label="Theme" size="icon-sm" data-theme-button>
            <Palette />
          </IconButton>
        </ThemeSelector>
      )}
    </>
  )
}
