import { Tip } from '@/components/tooltip'
import { useMe } from '../session/session-gate'
import { Avatar } from '../shell/avatar'
import { useOpenThread } from './thread-context'

/** Other people who have this thread open, and those who are typing. */
export function useOthers() {
  const me = useMe()
  const { open } = useOpenThread()
  const others = open.watching.filter(({ user_id }) => user_id !== me.user.id)
  const names = new Map(open.watching.map(({ user_id, name }) => [user_id, name]))
  const typing = open.typing.filter((who) => who !== me.user.id && who !== me.user.name)
  return { others, typing: typing.map((who) => names.get(who) ?? who) }
}

/** Other people who have this thread open. */
export function Watching() {
  const { others } = useOthers()
  const [first] = others
  if (first === undefined) return null
  const words =
    others.length === 1 ? `${first.name} is watching` : `${others.map(({ name }) => name).join(', ')} are watching`
  return (
    <Tip label={words}>
      <span role="img" aria-label={words} data-watching className="flex -space-x-1.5 pr-1">
        {others.slice(0, 3).map(({ user_id, name }) => (
          <Avatar key={user_id} id={user_id} name={name} className="size-6 text-[10px] ring-2 ring-bg" />
        ))}
      </span>
    </Tip>
  )
}

/** One line above the composer; empty most of the time. */
export function TypingLine() {
  const { others, typing } = useOthers()
  const [first] = others
  const text =
    typing.length > 0
      ? `${typing.join(', ')} ${typing.length === 1 ? 'is' : 'are'} writing…`
      : first !== undefined
        ? others.length === 1
          ? `${first.name} is watching`
          : `${others.length} others are watching`
        : ''
  return (
    <p aria-live="polite" className="h-5 min-w-0 flex-1 truncate px-4 text-xs text-faint">
      {text}
    </p>
  )
}
