/** The parts of an answer for display: prose, with the work in between folded. Pure. */
import type { Part, ToolCallPart } from '@outlast/sdk'
import { duration, parseObject, plural } from '@/lib/format'
import { filesOf, pathsOf } from '@/features/threads/tool-text'

export type Work = Extract<Part, { type: 'tool_call' | 'reasoning' }>
export type Section = { kind: 'part'; part: Part } | { kind: 'work'; id: string; parts: Work[] }

/** Consecutive calls and thoughts form one piece of work; parts for which `isShown` is false are left out. */
export function sectionsOf(parts: readonly Part[], isShown: (part: Part) => boolean): Section[] {
  const sections: Section[] = []
  for (const part of parts) {
    if (!isShown(part)) continue
    const last = sections.at(-1)
    if (part.type !== 'tool_call' && part.type !== 'reasoning') sections.push({ kind: 'part', part })
    else if (last?.kind === 'work') last.parts.push(part)
    else sections.push({ kind: 'work', id: part.id, parts: [part] })
  }
  return sections
}

/** "4 files written · types checked · 2 commands · 14 s". */
export function summaryOf(parts: readonly Work[]): string {
  const calls = parts.filter((part) => part.type === 'tool_call')
  const ofTool = (tool: string) => calls.filter((call) => call.tool === tool)
  const commands = ofTool('terminal')
  const checks = commands.filter(isCheck)
  const others = calls.length - ofTool('create_or_update_files').length - ofTool('read_files').length - commands.length
  const seconds = calls.reduce((sum, { duration_s }) => sum + (duration_s ?? 0), 0)
  const facts = [
    countText(written(ofTool('create_or_update_files')), 'file', 'written'),
    countText(pathsRead(ofTool('read_files')), 'file', 'read'),
    checks.length > 0 ? 'types checked' : '',
    countText(commands.length - checks.length, 'command'),
    countText(others, 'other call'),
    seconds >= 1 ? duration(Math.round(seconds)) : '',
  ].filter((words) => words !== '')
  return facts.length === 0 ? 'Thought briefly' : facts.join(' · ')
}

const countText = (count: number, what: string, done = ''): string =>
  count === 0 ? '' : `${plural(count, what)} ${done}`.trim()

const pathsRead = (calls: readonly ToolCallPart[]): number =>
  new Set(calls.flatMap((call) => pathsOf(parseObject(call.arguments) ?? {}))).size

const isCheck = ({ arguments: args }: ToolCallPart): boolean => /\btsc\b/.test(args)

function written(calls: readonly ToolCallPart[]): number {
  return new Set(calls.flatMap((call) => filesOf(parseObject(call.arguments) ?? {}).map(({ path }) => path))).size
}

const TROUBLE = new Set<ToolCallPart['status']>(['error', 'denied', 'interrupted'])

export const failures = (parts: readonly Work[]): number =>
  parts.filter((part) => part.type === 'tool_call' && TROUBLE.has(part.status)).length
