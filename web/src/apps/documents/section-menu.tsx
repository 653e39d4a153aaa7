import {
  ArrowDown,
  ArrowUp,
  Ellipsis,
  Hand,
  Heading,
  IndentDecrease,
  IndentIncrease,
  Link2,
  LockKeyhole,
  LockKeyholeOpen,
  Plus,
  Trash2,
} from 'lucide-react'
import { useState } from 'react'
import { useSelected } from '@outlast/sdk/react'
import { IconButton } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { Menu, MenuItem, MenuLine } from '@/components/menu'
import { complain, say } from '@/components/toast'
import { clockTime, plural } from '@/lib/format'
import { client } from '@/lib/queries'
import { AboutItems } from './comments/about-items'
import { useDocumentRoom } from './document-context'
import { useEditorSession } from './editor/use-editor-session'
import { headingKey } from './focus-store'
import { useSectionLock } from './section-lock'
import { sectionFamily, sectionStepped } from './block-moves'
import { deleteSection, isUnseen } from './section-deletion'
import { refused } from './use-row-moves'

const DEEPEST = 6

/** Lock, move, change the level of, or delete a section. */
export function SectionMenu({ sectionId }: { sectionId: string }) {
  const { store, documentId, mayEdit, focus } = useDocumentRoom()
  const session = useEditorSession()
  const level = useSelected(store, ({ content }) => content.sections[sectionId]?.level ?? 1)
  const { lock, state } = useSectionLock(sectionId)
  const [deleting, setDeleting] = useState<'no' | 'asked' | 'changed'>('no')
  const theirs = state === 'theirs' || state === 'expired'
  const run = (work: Promise<unknown>, done: string) => void work.then(() => say(done), complain)
  const change = (...changes: Parameters<typeof store.change>[0]) => {
    if (changes.length > 0) store.change(changes).catch(refused)
  }
  const remove = () =>
    void deleteSection(store, sectionId).catch((error: Error) => {
      if (!isUnseen(error)) return refused(error)
      store.reload()
      setDeleting('changed')
    })
  const copyLink = () => {
    const url = `${location.origin}/documents/${documentId}?section=${sectionId}`
    navigator.clipboard.writeText(url).then(() => say('Link copied.'), complain)
  }
  const add = () => {
    const { content } = store.get()
    const after = sectionFamily(content, sectionId).at(-1) ?? sectionId
    const ref = `new-section-${crypto.randomUUID()}`
    store
      .change([{ op: 'insert_section', after, heading: 'New section', level, ref }])
      .then(({ made }) => focus.edit(headingKey(made[ref] ?? ref), 'end'), refused)
  }
  return (
    <>
      <Menu
        align="end"
        trigger={
          <IconButton
            label="Section menu"
            size="icon-sm"
            className="section-menu"
            onPointerDown={(event) => event.stopPropagation()}
          >
            {state === 'mine' ? <LockKeyhole className="text-link" /> : <Ellipsis />}
          </IconButton>
        }
      >
        {mayEdit && (
          <>
            {state === 'free' && (
              <MenuItem
                onSelect={() =>
                  run(client.documents.lockSection(sectionId), 'Locked: only you can change this section')
                }
              >
                <LockKeyhole />
                Lock for me
              </MenuItem>
            )}
            {state === 'mine' && (
              <MenuItem
                onSelect={() =>
                  run(client.documents.releaseSection(sectionId), 'Lock released: all editors can change this section')
                }
              >
                <LockKeyholeOpen />
                Release the lock
              </MenuItem>
            )}
            {state === 'theirs' && (
              <MenuItem
                onSelect={() =>
                  run(client.documents.requestSection(sectionId), `Request sent to ${lock?.holder_name ?? ''}.`)
                }
              >
                <Hand />
                Request the lock from {lock?.holder_name}
                <span className="ml-auto text-xs text-faint">{lock !== null && clockTime(lock.expires_at)}</span>
              </MenuItem>
            )}
            {state === 'expired' && (
              <MenuItem onSelect={() => run(client.documents.lockSection(sectionId, true), 'You have the lock now')}>
                <Hand />
                Take over
              </MenuItem>
            )}
            <AboutItems section_id={sectionId} block_id={null} />
            <MenuLine />
            <MenuItem disabled={theirs} onSelect={() => setTimeout(() => focus.edit(headingKey(sectionId)), 50)}>
              <Heading />
              Edit heading
            </MenuItem>
            <MenuItem
              disabled={theirs}
              onSelect={() => setTimeout(() => focus.edit(session.begin({ sectionId, after: null })), 50)}
            >
              <Plus />
              Add text at the start
            </MenuItem>
            <MenuItem onSelect={add}>
              <Plus />
              New section below
            </MenuItem>
            <MenuItem
              disabled={theirs || level >= DEEPEST}
              onSelect={() => change({ op: 'edit_section', section_id: sectionId, level: level + 1 })}
            >
              <IndentIncrease />
              One level deeper
            </MenuItem>
            <MenuItem
              disabled={theirs || level <= 1}
              onSelect={() => change({ op: 'edit_section', section_id: sectionId, level: level - 1 })}
            >
              <IndentDecrease />
              One level up
            </MenuItem>
            <MenuItem disabled={theirs} onSelect={() => change(...sectionStepped(store.get().content, sectionId, -1))}>
              <ArrowUp />
              Move up
            </MenuItem>
            <MenuItem disabled={theirs} onSelect={() => change(...sectionStepped(store.get().content, sectionId, 1))}>
              <ArrowDown />
              Move down
            </MenuItem>
          </>
        )}
        <MenuItem onSelect={copyLink}>
          <Link2 />
          Copy link
        </MenuItem>
        {mayEdit && (
          <>
            <MenuLine />
            <MenuItem danger disabled={theirs} onSelect={() => setDeleting('asked')}>
              <Trash2 />
              Delete section
            </MenuItem>
          </>
        )}
      </Menu>
      <Confirm
        open={deleting !== 'no'}
        onClose={() => setDeleting('no')}
        title={deleting === 'changed' ? 'Someone just changed this section' : 'Delete this section?'}
        action={deleting === 'changed' ? 'Delete anyway' : 'Delete'}
        onConfirm={remove}
      >
        {deleting === 'changed' && 'It was not deleted. Cancel to see its current text. '}
        Its heading and {plural(store.get().content.sections[sectionId]?.blocks.length ?? 0, 'block')} are deleted. You
        can restore them from the history.
      </Confirm>
    </>
  )
}
