/** The one-line summary of a tool call. Pure. */
import { fileName, type ToolCallPart } from '@outlast/sdk'

type Arguments = Record<string, unknown>

const text = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)

/** The most important argument. */
export function title(tool: string, args: Arguments | null): string {
  if (args === null) return ''
  switch (tool) {
    case 'terminal':
      return firstLine(text(args['command']))
    case 'run_code':
      if (text(args['description']) !== '') return text(args['description'])
      return [text(args['language']), firstLine(text(args['code']))].filter((word) => word !== '').join(': ')
    case 'start_service':
      return `${text(args['name'])} on port ${text(args['port'])}: ${firstLine(text(args['command']))}`
    case 'create_or_update_files':
      return filesOf(args)
        .map(({ path }) => path)
        .join(', ')
    case 'read_file':
      return fileName(text(args['id']))
    case 'use_skill':
    case 'read_skill_file':
      return text(args['name'])
    case 'read_files':
      return pathsOf(args).join(', ')
    case 'ask_user':
      return questionsAndAnswers(args, null)
        .map(([question]) => question)
        .join(' ')
    default:
      return firstLine(text(Object.values(args)[0]))
  }
}

/** The paths that `read_files` requests. */
export const pathsOf = (args: Arguments): string[] => list(args['files'] ?? args['paths']).map(text)

interface FileArgument {
  path: string
  content: string
}

export function filesOf(args: Arguments): FileArgument[] {
  return list(args['files']).flatMap((file) => {
    const { path, content } = (file ?? {}) as Partial<FileArgument>
    return typeof path === 'string' ? [{ path, content: text(content) }] : []
  })
}

/** The exit status in a command's result, or null if there is none. */
export function exitCode({ tool, result }: Pick<ToolCallPart, 'tool' | 'result'>): number | null {
  if (tool !== 'terminal' || result === null) return null
  const match = /exit(?:ed)?[ _-]*(?:code|status)?[":= ]*(-?\d+)/i.exec(
    result.slice(0, 200) + '\n' + result.slice(-200),
  )
  return match === null ? null : Number(match[1])
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const firstLine = (value: string): string => value.trimStart().split('\n', 1)[0] ?? ''

/** The rest of a result after the output that was shown: how the command ended. */
export function ending(result: string): string {
  return /\[([^\]\n]*)\]\s*$/.exec(result)?.[1] ?? ''
}

interface Evaluation {
  success: boolean
  result: unknown
  error: unknown
  stdout: string
}

/** The result of `run_code`; null for any other text. */
export function evaluation(value: Arguments | null): Evaluation | null {
  if (value === null || typeof value['success'] !== 'boolean') return null
  return { success: value['success'], result: value['result'], error: value['error'], stdout: text(value['stdout']) }
}

/** The questions of an `ask_user` call with the answers from its result. */
export function questionsAndAnswers(args: Arguments | null, result: Arguments | null): [string, string][] {
  const answers = (result?.['answers'] ?? result ?? {}) as Arguments
  return list(args?.['questions']).map((item) => {
    const { id, question } = (item ?? {}) as { id?: string; question?: string }
    const answer = answers[id ?? '']
    return [question ?? '', Array.isArray(answer) ? answer.join(', ') : text(answer)]
  })
}

export const readable = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2)
