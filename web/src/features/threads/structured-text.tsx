import { parseObject } from '@/lib/format'
import { Block } from './tool-body'

type Field = [name: string, value: string]

/** True if the whole text is one JSON object with something in it. */
export function isStructured(text: string): boolean {
  return Object.keys(objectIn(text)).length > 0
}

/** The names and values of a text that is one JSON object of plain values, as people read them; null for any other. */
export function fieldsOf(text: string): Field[] | null {
  const entries = Object.entries(objectIn(text))
  const fields = entries.map(([name, value]): Field | null => {
    const shown = Array.isArray(value) ? (value.every(isPlain) ? value.map(plain).join(', ') : null) : plain(value)
    return shown === null ? null : [words(name), shown === '' ? '–' : shown]
  })
  return fields.length > 0 && fields.every((field) => field !== null) ? fields : null
}

/** An answer that is JSON, such as that of an agent with an output of its own: a table, or, if nested, formatted. */
export function StructuredText({ text }: { text: string }) {
  const fields = fieldsOf(text)
  if (fields === null) return <Block label="JSON" text={JSON.stringify(JSON.parse(text), null, 2)} language="json" />
  return (
    <dl className="grid w-fit max-w-full grid-cols-[auto_1fr] gap-x-4 gap-y-1 rounded-xl border border-line bg-raised px-3.5 py-2.5 text-[13.5px]">
      {fields.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="[overflow-wrap:anywhere] whitespace-pre-wrap">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

const objectIn = (text: string): Record<string, unknown> =>
  (text.trimStart().startsWith('{') ? parseObject(text) : null) ?? {}

const isPlain = (value: unknown): boolean => value === null || typeof value !== 'object'

function plain(value: unknown): string | null {
  if (!isPlain(value)) return null
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return value === null ? '' : String(value)
}

function words(name: string): string {
  const spaced = name
    .replaceAll(/[_-]+/g, ' ')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .trim()
  return spaced === '' ? name : spaced[0]!.toUpperCase() + spaced.slice(1).toLowerCase()
}
