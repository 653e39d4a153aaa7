/** What was done on a page, as the message that tells the agent of it. Pure. */

export interface Acted {
  name: string
  data: Record<string, unknown>
}

const LINE = /^\d+\. Action: ([a-z][a-z0-9_.:-]*) Data: (\{.*\})$/

/** The actions that a message consists of; null: it has words of a person. */
export function readActed(text: string): Acted[] | null {
  const found: Acted[] = []
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
