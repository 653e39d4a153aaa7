/** Whether this browser signed in by itself; on the server's own machine one is signed in without. */
const KEY = 'outlast.session'

export const hasSession = (): boolean => localStorage.getItem(KEY) !== null

export function rememberSession(signedIn: boolean): void {
  if (signedIn) localStorage.setItem(KEY, 'yes')
  else localStorage.removeItem(KEY)
}
