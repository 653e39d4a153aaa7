/** An action as one line. Pure. */
import type { PageAction } from '@outlast/sdk'

/** "refresh", "add-item: title Milk": the action's name and values. */
export function actionText({ name, data }: Pick<PageAction, 'name' | 'data'>): string {
  const values = Object.entries(data).map(([key, value]) => `${key} ${short(value)}`)
  return values.length === 0 ? name : `${name}: ${values.join(', ')}`
}

/** Equal actions, folded into one line. */
interface FoldedActions<T> {
  words: string
  actions: readonly T[]
}

/** Folds actions with the same words (and by the same person), in the order in which each first occurred. Pure. */
export function foldActions<T extends Pick<PageAction, 'name' | 'data'> & { by?: string }>(
  actions: readonly T[],
): FoldedActions<T>[] {
  const groups = new Map<string, { words: string; actions: T[] }>()
  for (const action of actions) {
    const key = JSON.stringify([action.by ?? null, action.name, action.data])
    const known = groups.get(key)
    if (known === undefined) groups.set(key, { words: actionText(action), actions: [action] })
    else known.actions.push(action)
  }
  return [...groups.values()]
}

/** "inc ×47" */
export const foldedText = ({ words, actions }: FoldedActions<unknown>): string =>
  actions.length === 1 ? words : `${words} ×${actions.length}`

const short = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
