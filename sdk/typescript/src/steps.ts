/** An agent's steps, in words for users. Pure. */
import type { ToolCallPart, ToolStatus, WorkflowStep } from './api.gen.ts'
import type { RunState } from './fold.ts'

export type StepStatus = 'pending' | 'active' | 'complete' | 'failed' | 'skipped'

/** One line: a step of the workflow, or a tool call. */
export interface StreamingStep {
  id: string
  label: string
  status: StepStatus
  /** A second line, if there is one. */
  detail: string
  /** Seconds; null while it is running, or if it was not measured. */
  duration_s: number | null
  /** The tool call of this line. */
  call: ToolCallPart | null
}

type Tense = 'now' | 'past' | 'plain'
type Words = readonly [now: string, past: string, plain: string]

const AT: Record<Tense, 0 | 1 | 2> = { now: 0, past: 1, plain: 2 }

const TENSE: Record<ToolStatus, Tense> = {
  streaming: 'now',
  pending: 'now',
  running: 'now',
  done: 'past',
  waiting: 'plain',
  error: 'plain',
  denied: 'plain',
  interrupted: 'plain',
  cancelled: 'plain',
}

/** The name of a tool as people read it: `linear.create_issue` for `linear__create_issue` of an MCP server. */
export const toolName = (tool: string): string => tool.replace(/^([a-z][a-z0-9-]*)__(?=.)/, '$1.')

/** "Writing 3 files" while it runs, "Wrote 3 files" when it is done, "Write 3 files" if it did not run or not yet. */
export function toolLabel(part: Pick<ToolCallPart, 'tool' | 'arguments' | 'status'>): string {
  return wordsFor(part.tool, part.arguments)[AT[TENSE[part.status]]]
}

function wordsFor(tool: string, args: string): Words {
  switch (tool) {
    case 'create_or_update_files':
      return things('Writing', 'Wrote', 'Write', strings(args, 'path'))
    case 'read_files':
      return things('Reading', 'Read', 'Read', readPaths(args))
    case 'terminal':
      return commandWords(strings(args, 'command')[0] ?? '')
    case 'run_code':
      return codeWords(strings(args, 'language')[0] ?? '')
    case 'search_docs':
      return ['Searching the documentation', 'Searched the documentation', 'Search the documentation']
    case 'web_search':
      return ['Searching the web', 'Searched the web', 'Search the web']
    case 'web_fetch':
      return one('Reading', 'Read', 'Read', 'a web page')
    case 'propose_edits':
      return ['Writing edits', 'Proposed edits', 'Propose edits']
    case 'read_document':
      return one('Reading', 'Read', 'Read', 'the document')
    case 'search_files':
      return ['Searching the files', 'Searched the files', 'Search the files']
    case 'read_file':
      return one('Reading', 'Read', 'Read', fileName(strings(args, 'id')[0]) || 'a file')
    case 'show_file':
      return one('Showing', 'Showed', 'Show', strings(args, 'path')[0] ?? 'a file')
    case 'use_skill':
      return one('Taking up', 'Used', 'Use', `the skill ${strings(args, 'name')[0] ?? ''}`.trim())
    case 'read_skill_file':
      return one('Reading', 'Read', 'Read', strings(args, 'path')[0] ?? 'a file of the skill')
    case 'ask_user':
      return ['Asking you', 'Asked you', 'Ask you']
    case 'start_service':
      return one('Starting', 'Started', 'Start', strings(args, 'name')[0] ?? 'a service')
    default:
      return one('Calling', 'Called', 'Call', toolName(tool))
  }
}

/** The name of an attached file; empty for the id of a project file. */
export const fileName = (id = ''): string => (/^art_/.test(id) ? '' : id)

const one = (now: string, past: string, plain: string, what: string): Words => [
  `${now} ${what}`,
  `${past} ${what}`,
  `${plain} ${what}`,
]

function things(now: string, past: string, plain: string, paths: string[]): Words {
  const [first] = paths
  return one(now, past, plain, paths.length > 1 ? `${paths.length} files` : (first ?? 'files'))
}

const COMMANDS: [pattern: RegExp, words: (found: RegExpExecArray) => Words][] = [
  [/\btsc\b/, () => ['Checking types', 'Checked types', 'Check types']],
  [
    /\b(?:npm|pnpm|yarn|bun|pip3?)\s+(?:install|i|add|ci)\b\s*([^&|;\n]*)/,
    (found) => {
      const names = (found[1] ?? '').split(/\s+/).filter((word) => /^[@a-z]/i.test(word))
      return one('Installing', 'Installed', 'Install', names.length === 0 ? 'packages' : names.join(', '))
    },
  ],
  [/\b(?:vitest|jest|pytest|npm (?:run )?test)\b/, () => ['Running the tests', 'Ran the tests', 'Run the tests']],
  [/\b(?:eslint|prettier|oxlint)\b/, () => ['Tidying the code', 'Tidied the code', 'Tidy the code']],
  [
    /^\s*(?:cd \S+ && )?(?:ls|find|tree|pwd|du|stat)\b/,
    () => ['Looking at the files', 'Looked at the files', 'Look at the files'],
  ],
  [/^\s*(?:cd \S+ && )?(?:cat|head|tail|sed -n|grep|rg|wc)\b/, () => ['Reading files', 'Read files', 'Read files']],
]

function commandWords(command: string): Words {
  for (const [pattern, words] of COMMANDS) {
    const found = pattern.exec(command)
    if (found !== null) return words(found)
  }
  return ['Running a command', 'Ran a command', 'Run a command']
}

const LANGUAGES: Record<string, string> = { typescript: 'TypeScript', ts: 'TypeScript', python: 'Python' }

const codeWords = (language: string): Words => one('Running', 'Ran', 'Run', LANGUAGES[language] ?? 'code')

/** The string values of a field, in order, also in incomplete JSON. */
function strings(json: string, field: string): string[] {
  const found = json.matchAll(new RegExp(`"${field}"\\s*:\\s*("(?:[^"\\\\]|\\\\.)*")`, 'g'))
  return [...found].flatMap(([, value = '""']) => {
    try {
      return [JSON.parse(value) as string]
    } catch {
      return []
    }
  })
}

function readPaths(json: string): string[] {
  const list = /"(?:files|paths)"\s*:\s*\[([^\]]*)/.exec(json)?.[1] ?? ''
  return [...list.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, path = '']) => path)
}

const WORKFLOW: Partial<Record<string, Words>> = {
  load_screen: ['Looking up the screen', 'Looked up the screen', 'Look up the screen'],
  open_sandbox: ['Opening the sandbox', 'Sandbox is open', 'Open the sandbox'],
  tell_context_lost: ['Restoring the files', 'Restored the files', 'Restore the files'],
  load_messages: ['Reading the conversation', 'Read the conversation', 'Read the conversation'],
  agent: ['Building', 'Built', 'Build'],
  check: ['Checking types and the page', 'Checked types and the page', 'Check types and the page'],
  preview_url: ['Opening the preview', 'Preview is open', 'Open the preview'],
  picture: ['Taking a screenshot', 'Took a screenshot', 'Take a screenshot'],
  save_screen: ['Saving the screen', 'Saved the screen', 'Save the screen'],
  load_page: ['Looking up the page', 'Looked up the page', 'Look up the page'],
  check_page: ['Checking the page', 'Checked the page', 'Check the page'],
  save_page: ['Saving the page', 'Saved the page', 'Save the page'],
  save_answer: ['Saving the answer', 'Saved the answer', 'Save the answer'],
  settle_credits: ['Charging the credits', 'Charged the credits', 'Charge the credits'],
  save_error: ['Saving what went wrong', 'Saved what went wrong', 'Save what went wrong'],
}

const WORKFLOW_TENSE: Record<WorkflowStep['status'], Tense> = {
  started: 'now',
  done: 'past',
  failed: 'plain',
  skipped: 'plain',
  cancelled: 'plain',
}

export const workflowLabel = ({ name, status }: Pick<WorkflowStep, 'name' | 'status'>): string =>
  WORKFLOW[name]?.[AT[WORKFLOW_TENSE[status]]] ?? sentence(name)

/** The label of an agent's own step: `save_support` → "Save support". */
const sentence = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ')

const OF_WORKFLOW: Record<WorkflowStep['status'], StepStatus> = {
  started: 'active',
  done: 'complete',
  failed: 'failed',
  skipped: 'skipped',
  cancelled: 'skipped',
}

const OF_TOOL: Record<ToolStatus, StepStatus> = {
  streaming: 'active',
  pending: 'active',
  waiting: 'pending',
  running: 'active',
  done: 'complete',
  error: 'failed',
  denied: 'failed',
  interrupted: 'failed',
  cancelled: 'skipped',
}

const BEFORE = new Set(['load_screen', 'load_page', 'open_sandbox', 'tell_context_lost', 'load_messages'])

/** All steps of a run, in order: those before the agent, its tool calls, those after it. */
export function stepsOf(run: Pick<RunState, 'parts'> & { workflow?: readonly WorkflowStep[] }): StreamingStep[] {
  const workflow = run.workflow ?? []
  const calls = run.parts.filter((part) => part.type === 'tool_call').map(ofCall)
  const named = workflow.filter(
    ({ name, status }) => name !== 'agent' && !(name === 'tell_context_lost' && status === 'skipped'),
  )
  return [
    ...named.filter(({ name }) => BEFORE.has(name)).map(ofWorkflow),
    ...calls,
    ...named.filter(({ name }) => !BEFORE.has(name)).map(ofWorkflow),
  ]
}

const ofWorkflow = (step: WorkflowStep): StreamingStep => ({
  id: step.name,
  label: workflowLabel(step),
  status: OF_WORKFLOW[step.status],
  detail: step.detail,
  duration_s: step.duration_s,
  call: null,
})

const ofCall = (part: ToolCallPart): StreamingStep => ({
  id: part.id,
  label: toolLabel(part),
  status: OF_TOOL[part.status],
  detail: '',
  duration_s: part.duration_s,
  call: part,
})

/** The running step of the workflow, unless it is the agent itself; for the status line. */
export function workflowNow(workflow: readonly WorkflowStep[] = []): string | null {
  const step = workflow.findLast(({ status }) => status === 'started')
  return step === undefined || step.name === 'agent' ? null : `${workflowLabel(step)}…`
}
