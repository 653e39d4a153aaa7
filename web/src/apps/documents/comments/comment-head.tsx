import { Check, Ellipsis, Heading, Link2, Pencil, RotateCcw, Trash2, UserRound, X } from 'lucide-react'
import type { CommentData } from '@outlast/sdk'
import { IconButton } from '@/components/button'
import { Menu, MenuItem, MenuLabel, MenuLine } from '@/components/menu'
import { Since } from '@/components/time'
import { complain, say } from '@/components/toast'
import { useMe } from '@/features/session/session-gate'
import { useActiveProject } from '@/features/shell/active-project'
import { Avatar } from '@/features/shell/avatar'
import type { useCommentActions } from './comment-actions'
import { AgentMark } from '@/features/mentions/mention-list'
import { useEditors } from '@/features/mentions/people'

type Actions = ReturnType<typeof useCommentActions>

/** Author, time and actions of a comment. */
export function CommentHead({ comment, mayEdit, actions, onEdit, onLink }: CommentHeadProps) {
  const { by, by_name, created_at, status, parent_id } = comment
  const name = by === null ? 'Agent' : (by_name ?? 'Former member')
  const begins = parent_id === null
  return (
    <header className="flex items-center gap-2">
      {by === null ? <AgentMark className="size-6" /> : <Avatar id={by} name={name} className="size-6 text-[10px]" />}
      <p className="min-w-0 flex-1 truncate">
        <span className="font-medium">{name}</span> <Since iso={created_at} className="text-xs text-faint" />
      </p>
      {mayEdit && (
        <div className="-my-1 -mr-1.5 flex items-center">
          {begins &&
            (status === 'open' ? (
              <IconButton
                label="Resolve"
                size="icon-sm"
                className="pointer-coarse:size-9"
                busy={actions.busy === 'resolve'}
                onClick={actions.resolve}
              >
                {actions.busy !== 'resolve' && <Check />}
              </IconButton>
            ) : (
              <IconButton
                label="Reopen"
                size="icon-sm"
                className="pointer-coarse:size-9"
                busy={actions.busy === 'resolve'}
                onClick={actions.reopen}
              >
                {actions.busy !== 'resolve' && <RotateCcw />}
              </IconButton>
            ))}
          <CommentMenu comment={comment} actions={actions} onEdit={onEdit} onLink={onLink} />
        </div>
      )}
    </header>
  )
}

interface CommentHeadProps {
  comment: CommentData
  mayEdit: boolean
  actions: Actions
  onEdit: () => void
  /** Opens the picker of linked sections; absent for replies. */
  onLink?: (() => void) | undefined
}

function CommentMenu({ comment, actions, onEdit, onLink }: Omit<CommentHeadProps, 'mayEdit'>) {
  const me = useMe()
  const { project } = useActiveProject()
  const members = useEditors(comment.project_id)
  const mine = comment.by === me.user.id
  const begins = comment.parent_id === null && comment.status === 'open'
  const mayDelete = mine || project?.role === 'owner'
  const copy = () => {
    const link = `${location.origin}/documents/${comment.document_id}?panel=comments&item=${comment.parent_id ?? comment.id}`
    navigator.clipboard.writeText(link).then(() => say('Link copied'), complain)
  }
  return (
    <Menu
      align="end"
      trigger={
        <IconButton label="Comment options" size="icon-sm" className="pointer-coarse:size-9">
          <Ellipsis />
        </IconButton>
      }
    >
      {/* After the menu has returned the focus, or the box would lose it at once. */}
      {mine && (
        <MenuItem onSelect={() => setTimeout(onEdit, 50)}>
          <Pencil />
          Edit
        </MenuItem>
      )}
      <MenuItem onSelect={copy}>
        <Link2 />
        Copy link
      </MenuItem>
      {begins && onLink !== undefined && (
        <MenuItem onSelect={onLink}>
          <Heading />
          Link more sections…
        </MenuItem>
      )}
      {begins && members.length > 0 && (
        <>
          <MenuLine />
          <MenuLabel>Assign to</MenuLabel>
          {members.map(({ id, name }) => (
            <MenuItem key={id} checked={comment.assigned_to === id} onSelect={() => actions.assign(id)}>
              <UserRound />
              <span className="truncate">{id === me.user.id ? `${name} (you)` : name}</span>
            </MenuItem>
          ))}
          {comment.assigned_to !== null && (
            <MenuItem onSelect={() => actions.assign(null)}>
              <X />
              No one
            </MenuItem>
          )}
        </>
      )}
      {mayDelete && (
        <>
          <MenuLine />
          <MenuItem danger onSelect={actions.remove}>
            <Trash2 />
            Delete
          </MenuItem>
        </>
      )}
    </Menu>
  )
}
