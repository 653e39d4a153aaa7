import { ChevronsUpDown, KeyRound, LogIn, LogOut, Monitor, Moon, ShieldCheck, Sun } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { complain } from '@/components/toast'
import { Menu, MenuItem, MenuLabel, MenuLine } from '@/components/menu'
import { client, queryClient } from '@/lib/queries'
import { setTheme, useTheme, type Theme } from '@/lib/theme'
import { TokensDialog } from '../account/tokens-dialog'
import { hasSession, rememberSession } from '../session/session'
import { useMe } from '../session/session-gate'
import { Avatar } from './avatar'

const THEMES: [Theme, string, typeof Sun][] = [
  ['system', 'System', Monitor],
  ['light', 'Light', Sun],
  ['dark', 'Dark', Moon],
]

export function UserMenu() {
  const me = useMe()
  const theme = useTheme()
  const [, navigate] = useLocation()
  const [tokens, setTokens] = useState(false)
  const signOut = () => {
    client.signOut().then(() => {
      rememberSession(false)
      return queryClient.resetQueries()
    }, complain)
  }
  return (
    <div className="border-t border-line p-2">
      <Menu
        side="top"
        className="w-60"
        trigger={
          <button className="flex w-full items-center gap-2.5 rounded-lg p-1.5 text-left hover:bg-hover">
            <Avatar name={me.user.name} id={me.user.id} />
            <span className="min-w-0 flex-1">
              <span className="block truncate font-medium">{me.user.name}</span>
              <span className="block truncate text-xs text-faint">
                {me.local_mode && !hasSession() ? 'On this machine' : `Plan: ${me.user.plan}`}
              </span>
            </span>
            <ChevronsUpDown className="size-3.5 text-faint" />
          </button>
        }
      >
        <MenuLabel>Appearance</MenuLabel>
        {THEMES.map(([name, label, Icon]) => (
          <MenuItem key={name} checked={theme === name} onSelect={() => setTheme(name)}>
            <Icon />
            {label}
          </MenuItem>
        ))}
        <MenuLine />
        <MenuItem onSelect={() => setTokens(true)}>
          <KeyRound />
          API tokens
        </MenuItem>
        {me.user.is_admin && (
          <MenuItem onSelect={() => navigate('/administration')}>
            <ShieldCheck />
            Administration
          </MenuItem>
        )}
        {me.local_mode && (
          <MenuItem onSelect={() => navigate('/sign-in')}>
            <LogIn />
            Sign in as someone else
          </MenuItem>
        )}
        {(!me.local_mode || hasSession()) && (
          <MenuItem onSelect={signOut}>
            <LogOut />
            Sign out
          </MenuItem>
        )}
        <MenuLine />
        <p className="px-2 py-1 text-xs text-faint">Outlast {me.version}</p>
      </Menu>
      <TokensDialog open={tokens} onClose={() => setTokens(false)} />
    </div>
  )
}
