/** Browser notifications about new inbox items while the page is in the background. Permission is requested only by a
 * click. */
import { useCallback, useEffect, useSyncExternalStore } from 'react'
import { OutlastClient, ProjectStore, type InboxItem, type OutlastEvent } from '@outlast/sdk'
import { useApps, type App } from '@/lib/apps'
import { useStored } from '@/lib/local-storage'
import { kindOf, placeOf } from './inbox-kinds'

type NotificationState =
  | 'unsupported' // this browser has none, or the page was not loaded over https or from this machine
  | 'blocked' // the user blocked notifications of this page in the browser
  | 'off'
  | 'on'

const KEY = 'outlast.notify'

const isSupported = (): boolean => isSecureContext && 'Notification' in window && 'locks' in navigator

/** The user can also change it in the browser's settings. */
function subscribe(listener: () => void): () => void {
  const life = new AbortController()
  addEventListener('focus', listener, { signal: life.signal })
  return () => life.abort()
}

export function useNotificationSetting(): {
  state: NotificationState
  turnOn: () => Promise<void>
  turnOff: () => void
} {
  const [wanted, setWanted] = useStored(KEY)
  const permission = useSyncExternalStore(subscribe, () => (isSupported() ? Notification.permission : 'denied'))
  const turnOn = async () => {
    if ((await Notification.requestPermission()) === 'granted') setWanted('on')
    dispatchEvent(new Event('focus'))
  }
  const state = !isSupported()
    ? 'unsupported'
    : permission === 'denied'
      ? 'blocked'
      : permission === 'granted' && wanted === 'on'
        ? 'on'
        : 'off'
  return { state, turnOn, turnOff: () => setWanted('') }
}

/** While the page is hidden, one of its tabs follows the project and shows notifications. */
export function useBackgroundNotifications(projectId: string, me: string, navigate: (href: string) => void): void {
  const { state } = useNotificationSetting()
  const apps = useApps()
  const show = useCallback((item: InboxItem) => showNotice(apps, item, navigate), [apps, navigate])
  useEffect(() => {
    if (state !== 'on') return
    let life = new AbortController()
    const turn = () => {
      life.abort()
      life = new AbortController()
      if (document.hidden) listen(projectId, me, show, life.signal)
      else hold('outlast.looking', { mode: 'shared', signal: life.signal }, life.signal)
    }
    turn()
    document.addEventListener('visibilitychange', turn)
    return () => {
      document.removeEventListener('visibilitychange', turn)
      life.abort()
    }
  }, [state, projectId, me, show])
}

/** Holds a lock of this browser until `signal` aborts, as soon as no other tab holds it. */
function hold(
  name: string,
  options: LockOptions,
  until: AbortSignal,
  held: () => () => void = () => () => undefined,
): void {
  const wait = () =>
    new Promise<void>((done) => {
      const stop = held()
      until.addEventListener('abort', () => (stop(), done()))
    })
  navigator.locks.request(name, options, wait).catch(() => undefined) // aborted while waiting
}

/** Browsers limit the connections to one server: of all hidden tabs of a project, one has a connection. */
function listen(projectId: string, me: string, show: (item: InboxItem) => void, signal: AbortSignal): void {
  hold(`outlast.notify.${projectId}`, { signal }, signal, () => {
    const client = new OutlastClient()
    const project = new ProjectStore(client, projectId)
    const deaf = client.listen((event) => void notifyOfEvent(client, event, me, show))
    project.start()
    return () => (deaf(), project.stop())
  })
}

async function notifyOfEvent(
  client: OutlastClient,
  event: OutlastEvent,
  me: string,
  show: (item: InboxItem) => void,
): Promise<void> {
  if (event.event !== 'inbox.changed' || event.data.item === null) return
  if (event.data.user_id !== null && event.data.user_id !== me) return
  const { held = [] } = await navigator.locks.query()
  if (held.some(({ name }) => name === 'outlast.looking')) return // another tab of the app is visible
  const { kind, item } = event.data
  // Decisions are shown only to people who may make them: their inbox contains the item.
  const found = (await client.inbox()).items.find((one) => one.kind === kind && one.id === item['id'])
  if (found !== undefined) show(found)
}

function showNotice(apps: readonly App[], item: InboxItem, navigate: (href: string) => void): void {
  const place = placeOf(apps, item)
  const body = [item.text, place.title].filter((line) => line !== '').join('\n')
  try {
    const notice = new Notification(kindOf(apps, item).title(item), {
      body,
      tag: `${item.kind} ${item.id}`,
      icon: '/icon.svg',
    })
    notice.onclick = () => {
      window.focus()
      navigate(place.href)
      notice.close()
    }
  } catch {
    // Some phones grant the permission but show notifications of installed apps only.
  }
}
