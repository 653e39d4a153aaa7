import { Ellipsis, Globe, KeyRound, Trash2, UserRound } from 'lucide-react'
import { useState } from 'react'
import type { Secret } from '@outlast/sdk'
import { Button, IconButton } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { Menu, MenuItem, MenuLine } from '@/components/menu'
import { complain } from '@/components/toast'
import { cn } from '@/lib/cn'
import { client } from '@/lib/queries'
import { reload, valueOf } from './secrets'

const VALUE = {
  own: 'Your own value',
  shared: 'Value for everybody',
  missing: 'No value yet',
}

interface SecretRowProps {
  secret: Secret
  /** Whether the person may change it for everybody. */
  mayManage: boolean
  onEdit: (what: 'hosts' | 'value' | 'own') => void
}

/** One secret: its name, its hosts, whose value is used, and its actions. */
export function SecretRow({ secret, mayManage, onEdit }: SecretRowProps) {
  const [asking, setAsking] = useState(false)
  const { id, name, hosts, is_own, project_id, has_value, has_own_value } = secret
  const value = valueOf(secret)
  const run = (change: Promise<unknown>) => void change.then(reload, complain)
  return (
    <li data-secret={name} className="flex items-center gap-3 px-4 py-3 sm:px-5">
      <div className="min-w-0 flex-1">
        <p className="truncate font-mono text-[13px] font-medium" title={name}>
          {name}
        </p>
        <p className="mt-0.5 text-[13px] break-words text-muted">
          {hosts.join(', ')}
          {is_own ? ' · only for you' : project_id === null && ' · for every project'}
        </p>
      </div>
      {value === 'missing' ? (
        <Button size="sm" onClick={() => onEdit('own')}>
          Enter your value
        </Button>
      ) : (
        <span className={cn('hidden shrink-0 text-xs text-muted sm:inline')}>{VALUE[value]}</span>
      )}
      <Menu
        align="end"
        trigger={
          <IconButton label={`Actions for ${name}`} size="icon-sm">
            <Ellipsis />
          </IconButton>
        }
      >
        <MenuItem onSelect={() => onEdit(is_own ? 'value' : 'own')}>
          <UserRound />
          {is_own ? 'Replace the value' : has_own_value ? 'Replace your own value' : 'Enter your own value'}
        </MenuItem>
        {has_own_value && (
          <MenuItem onSelect={() => run(client.secrets.forgetOwnValue(id))}>
            <UserRound />
            Forget your own value
          </MenuItem>
        )}
        {mayManage && (
          <>
            <MenuLine />
            {!is_own && (
              <MenuItem onSelect={() => onEdit('value')}>
                <KeyRound />
                {has_value ? 'Replace the value for everybody' : 'Enter a value for everybody'}
              </MenuItem>
            )}
            <MenuItem onSelect={() => onEdit('hosts')}>
              <Globe />
              Change hosts
            </MenuItem>
            <MenuItem danger onSelect={() => setAsking(true)}>
              <Trash2 />
              Delete
            </MenuItem>
          </>
        )}
      </Menu>
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title={`Delete ${name}?`}
        action="Delete secret"
        onConfirm={() => run(client.secrets.delete(id))}
      >
        Its values are deleted, and requests with it are refused at once, also in sandboxes that run.
      </Confirm>
    </li>
  )
}
