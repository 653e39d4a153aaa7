import { useSelected } from '@outlast/sdk/react'
import { Tip } from '@/components/tooltip'
import { useMe } from '../session/session-gate'
import { Avatar } from '../shell/avatar'
import { useDocumentRoom } from './document-context'

/** The others who are at a block, and whether they write there. */
export function PeopleAt({ blockId }: { blockId: string }) {
  const { store } = useDocumentRoom()
  const me = useMe()
  // As one text, so that nothing is drawn while it stays the same.
  const here = useSelected(store, ({ presence }) =>
    presence.watching
      .filter(({ user_id }) => user_id !== me.user.id && presence.places[user_id] === blockId)
      .map(({ user_id, name }) => `${user_id}\t${name}\t${presence.typing.includes(user_id) ? 'writes' : ''}`)
      .join('\n'),
  )
  if (here === '') return null
  const people = here.split('\n').map((line) => line.split('\t') as [string, string, string])
  const writing = people.filter(([, , writes]) => writes !== '').map(([, name]) => name)
  const names = people.map(([, name]) => name).join(', ')
  return (
    <span
      data-people-at={people.map(([id]) => id).join(' ')}
      className="pointer-events-none absolute -top-1 right-2 z-5 flex items-center gap-1.5 rounded-full bg-raised/90 py-0.5 pr-1 pl-1 text-xs text-muted md:right-3"
    >
      {writing.length > 0 && (
        <span className="pl-1">
          {writing.join(', ')} {writing.length === 1 ? 'is' : 'are'} writing…
        </span>
      )}
      <Tip label={`${names} ${people.length === 1 ? 'is' : 'are'} here`}>
        <span className="pointer-events-auto flex -space-x-1">
          {people.map(([id, name]) => (
            <Avatar key={id} id={id} name={name} className="size-5 text-[9px] ring-2 ring-bg" />
          ))}
        </span>
      </Tip>
    </span>
  )
}

const SHOWN = 5

/** The others who have this document open, on its head: a click leads to where they are. */
export function PeopleInDocument() {
  const { store, scrollToBlock } = useDocumentRoom()
  const me = useMe()
  const { watching, places, typing } = useSelected(store, ({ presence }) => presence)
  const others = watching.filter(({ user_id }) => user_id !== me.user.id)
  if (others.length === 0) return null
  return (
    <span data-people className="flex -space-x-1.5 pr-1" role="group" aria-label="Who is here">
      {others.slice(0, SHOWN).map(({ user_id, name }) => {
        const at = places[user_id]
        const words = typing.includes(user_id) ? `${name} is writing…` : `${name} is here`
        return (
          <Tip key={user_id} label={at === undefined ? words : `${words} Go there`}>
            <button
              aria-label={words}
              className="rounded-full"
              disabled={at === undefined}
              onClick={() => at !== undefined && scrollToBlock(at)}
            >
              <Avatar id={user_id} name={name} className="size-6 text-[10px] ring-2 ring-bg" />
            </button>
          </Tip>
        )
      })}
      {others.length > SHOWN && (
        <span className="grid size-6 place-items-center rounded-full bg-active text-[10px] ring-2 ring-bg">
          +{others.length - SHOWN}
        </span>
      )}
    </span>
  )
}
