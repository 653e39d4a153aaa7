import type { ThemeTokens } from '@outlast/sdk'
import { command } from '../screen-edit/bridge-protocol'

/** Shows a theme in a screen's frame without saving it; null: its own again. The bridge inside answers nothing. */
export function showTheme(frame: HTMLIFrameElement | null, origin: string | null, tokens: ThemeTokens | null): void {
  command(frame, origin, { outlast: 'theme', tokens })
}
