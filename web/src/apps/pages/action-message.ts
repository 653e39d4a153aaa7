/** The message that lists people's actions on a page for the agent. Pure. */
import type { PageAction } from '@outlast/sdk'

type MessageAction = Pick<PageAction, 'name' | 'data'>

const LINE = /^\d+\. Action: ([a-z][a-z0-9_.:-]*) Data: (\{.*\})$/

/** The actions that a message lists, or null if a person wrote it. */
export function readActions(text: string): MessageAction[] | null {
  const actions: MessageAction[] = []
  for (const line of text.split('\n')) {
    const match = LINE.exec(line)
    const data = match === null ? null : objectOf(match[2]!)
    if (match === null || data === null) return null
    actions.push({ name: match[1]!, data })
  }
  return actions
}

function objectOf(json: string): Record<string, unknown> | null {
  try {
    return JSON.parse(json) as Record<string, unknown>
  } catch {
    return null
  }
}
