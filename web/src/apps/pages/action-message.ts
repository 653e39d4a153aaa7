/** The message that tells the agent which actions people took on a page. Pure. */
import type { PageAction } from '@outlast/sdk'

type MessageAction = Pick<PageAction, 'name' | 'data'>

const LINE = /^\d+\. Action: ([a-z][a-z0-9_.:-]*) Data: (\{.*\})$/

/** The actions that a message lists; null: a person wrote it. */
export function readActions(text: string): MessageAction[] | null {
  const found: MessageAction[] = []
  for (const line of text.split('\n')) {
    const match = LINE.exec(line)
    const data = match === null ? null : objectOf(match[2]!)
    if (match === null || data === null) return null
    found.push({ name: match[1]!, data })
  }
  return found
}

function objectOf(json: string): Record<string, unknown> | null {
  try {
    return JSON.parse(json) as Record<string, unknown>
  } catch {
    return null
  }
}
