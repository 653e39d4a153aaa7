import { useLocation } from 'wouter'
import { useMe } from '../session/session-gate'
import { useActiveProject } from '../shell/active-project'
import { useBackgroundNotices } from './notify'

/** Shows browser notifications while the page is in the background; renders nothing. */
export default function BackgroundNotices() {
  const me = useMe()
  const { projectId } = useActiveProject()
  const [, navigate] = useLocation()
  useBackgroundNotices(projectId, me.user.id, navigate)
  return null
}
