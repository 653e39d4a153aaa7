/** Set if this browser signed in explicitly; on the server's own machine, users are signed in without it. */
const KEY = 'outlast.session'

export const hasSession = (): boolean => localStorage.getItem(KEY) !== null

export function rememberSession(signedIn: boolean): void {
  if (signedIn) localStorage.setItem(KEY, 'yes')
  else localStorage.removeItem(KEY)
}
