import { Tip } from '@/components/tooltip'
import { useMe } from '@/features/session/session-gate'
import { useActiveProject } from './active-project'
import { Avatar } from './avatar'

const SHOWN = 4

/** Other people who have this project open. */
export function PeopleHere() {
  const me = useMe()
  const { watching } = useActiveProject()
  const others = watching.filter(({ user_id }) => user_id !== me.user.id)
  if (others.length === 0) return null
  const words =
    others.length === 1 ? `${others[0]?.name ?? ''} is here` : `${others.map(({ name }) => name).join(', ')} are here`
  return (
    <Tip label={words}>
      <span role="img" aria-label={words} data-people className="flex -space-x-1.5 pr-1">
        {others.slice(0, SHOWN).map(({ user_id, name }) => (
          <Avatar key={user_id} id={user_id} name={name} className="size-6 text-[10px] ring-2 ring-bg" />
        ))}
        {others.length > SHOWN && (
          <span className="grid size-6 place-items-center rounded-full bg-active text-[10px] ring-2 ring-bg">
            +{others.length - SHOWN}
          </span>
        )}
      </span>
    </Tip>
  )
}
