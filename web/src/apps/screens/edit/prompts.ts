/** Prompts that ask the agent for changes that cannot be made by hand. Pure. */
import type { EditRefusal, PageError, PendingElement } from '@outlast/sdk'

/** A value that code computes: the prompt names the place, the reason and the wanted change. */
export function askPrompt(tag: string, mark: string, refusal: EditRefusal, wishes: readonly string[] = []): string {
  const place = mark.replace(/:\d+$/, '')
  const wanted = wishes.length > 0 ? wishes.map((wish) => `- ${wish}`).join('\n') : '- '
  return `Please change the <${tag}> at ${place}. I could not edit it by hand: ${refusal.reason}\nWhat I want:\n${wanted}`
}

/** The pending changes of an element, in words. */
export function wishesOf(one: PendingElement): string[] {
  const styles = Object.entries(one.styles).map(([property, { value }]) => `${property}: ${value}`)
  const classes = [
    ...Object.keys(one.added).map((name) => `add the class ${name}`),
    ...one.removed.map((name) => `remove the class ${name}`),
  ]
  const text = one.text === null ? [] : [`its text: “${one.text}”`]
  const attributes = Object.entries(one.attributes).map(([name, value]) => `${name}: ${value}`)
  return [...styles, ...classes, ...text, ...attributes]
}

export const fixPrompt = ({ message, source, line }: PageError): string =>
  `The page reports an error: ${message}${source === '' ? '' : ` (${source.replace(/^https?:\/\/[^/]+\//, '')}:${line})`}. Please find the cause and fix it.`
