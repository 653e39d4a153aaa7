import { useSelected } from '@outlast/sdk/react'
import { Tip } from '@/components/tooltip'
import { useMe } from '@/features/session/session-gate'
import { Avatar } from '@/features/shell/avatar'
import { useDocumentRoom } from './document-context'

/** Other people at a block, and whether they are writing. */
export function PeopleAt({ blockId }: { blockId: string }) {
  const { store } = useDocumentRoom()
  const me = useMe()
  // As one string, so that nothing renders while it stays the same.
  const here = useSelected(store, ({ presence }) =>
    presence.watching
      .filter(({ user_id }) => user_id !== me.user.id && presence.places[user_id] === blockId)
      .map(({ user_id, name }) => `${user_id}\t${name}\t${presence.typing.includes(user_id) ? 'writes' : ''}`)
      .join('\n'),
  )
  if (here === '') return null
  const people = here.split('\n').map((line) => line.split('\t') as [string, string, string])
  return (
    <span data-people-at={people.map(([id]) => id).join(' ')} className="people-at">
      {people.slice(0, 2).map(([id, name, writes]) => (
        <Tip key={id} label={writes === '' ? `${name} is here` : `${name} is writing…`}>
          <span className="relative inline-grid">
            <Avatar id={id} name={name} className="size-5 text-[9px] ring-2 ring-bg" />
            {writes !== '' && (
              <span aria-hidden className="writing-dots">
                <i />
                <i />
                <i />
              </span>
            )}
            <span className="sr-only">{writes === '' ? `${name} is here` : `${name} is writing…`}</span>
          </span>
        </Tip>
      ))}
    </span>
  )
}

const SHOWN = 5

/** Other people who have this document open, in its header. A click scrolls to their place. */
export function PeopleInDocument() {
  const { store } = useDocumentRoom()
  const me = useMe()
  const { watching, places, typing } = useSelected(store, ({ presence }) => presence)
  const others = watching.filter(({ user_id }) => user_id !== me.user.id)
  if (others.length === 0) return null
  const writers = others.filter(({ user_id }) => typing.includes(user_id)).map(({ name }) => name)
  return (
    <span className="flex min-w-0 shrink items-center gap-2">
      <span aria-live="polite" className="min-w-0 truncate text-xs text-muted max-sm:sr-only">
        {writers.length > 0 && `${writers.join(', ')} ${writers.length === 1 ? 'is' : 'are'} writing…`}
      </span>
      <Faces others={others} places={places} typing={typing} />
    </span>
  )
}

interface FacesProps {
  others: readonly { user_id: string; name: string }[]
  places: Readonly<Record<string, string>>
  typing: readonly string[]
}

function Faces({ others, places, typing }: FacesProps) {
  const { scrollToBlock } = useDocumentRoom()
  return (
    <span data-people className="flex shrink-0 -space-x-1.5 pr-1" role="group" aria-label="People here">
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
