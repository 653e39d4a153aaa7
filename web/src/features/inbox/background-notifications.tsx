import { useLocation } from 'wouter'
import { useMe } from '../session/session-gate'
import { useActiveProject } from '../shell/active-project'
import { useBackgroundNotifications } from './notifications'

/** Shows browser notifications while the page is in the background; renders nothing. */
export default function BackgroundNotifications() {
  const me = useMe()
  const { projectId } = useActiveProject()
  const [, navigate] = useLocation()
  useBackgroundNotifications(projectId, me.user.id, navigate)
  return null
}
