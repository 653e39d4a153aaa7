import { Ellipsis, Eye, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Skill } from '@outlast/sdk'
import { IconButton } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { Menu, MenuItem } from '@/components/menu'
import { Switch } from '@/components/switch'
import { complain } from '@/components/toast'
import { cn } from '@/lib/cn'
import { bytes, plural } from '@/lib/format'
import { client } from '@/lib/queries'
import { reload } from './skills'

interface SkillRowProps {
  projectId: string
  skill: Skill
  /** Whether the person may turn it on and off, and delete it. */
  mayManage: boolean
  onShow: () => void
}

/** One skill: what it is for, and whether agents use it. */
export function SkillRow({ projectId, skill, mayManage, onShow }: SkillRowProps) {
  const [asking, setAsking] = useState(false)
  const { name, description, enabled, of_server, files, size_bytes } = skill
  const run = (change: Promise<unknown>) => void change.then(() => reload(projectId), complain)
  return (
    <li data-skill={name} className="flex items-center gap-3 px-4 py-3 sm:px-5">
      <button className={cn('min-w-0 flex-1 rounded-md text-left', !enabled && 'opacity-60')} onClick={onShow}>
        <span className="block truncate font-medium" title={name}>
          {name}
        </span>
        <span className="mt-0.5 line-clamp-2 text-[13px] text-muted [overflow-wrap:anywhere]">{description}</span>
        <span className="mt-0.5 block text-[13px] text-faint">
          {plural(files, 'file')}, {bytes(size_bytes)}
          {of_server && ' · from the server'}
          {!enabled && ' · off'}
        </span>
      </button>
      {mayManage && (
        <Switch
          label={`Agents use ${name}`}
          on={enabled}
          onTurn={(on) => run(client.skills.turn(projectId, name, on))}
        />
      )}
      <Menu
        align="end"
        trigger={
          <IconButton label={`Actions for ${name}`} size="icon-sm">
            <Ellipsis />
          </IconButton>
        }
      >
        <MenuItem onSelect={onShow}>
          <Eye />
          Look at it
        </MenuItem>
        {mayManage && !of_server && (
          <MenuItem danger onSelect={() => setAsking(true)}>
            <Trash2 />
            Delete…
          </MenuItem>
        )}
      </Menu>
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title={`Delete ${name}?`}
        action="Delete skill"
        onConfirm={() => run(client.skills.delete(projectId, name))}
      >
        Agents of this project can no longer use it, also those that work. To keep it for later, turn it off.
      </Confirm>
    </li>
  )
}
