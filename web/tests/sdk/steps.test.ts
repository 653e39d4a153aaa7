import { describe, expect, it, test } from 'vitest'
import { stepsOf, toolLabel, workflowNow, type ToolCallPart, type ToolStatus, type WorkflowStep } from '@outlast/sdk'

const call = (tool: string, args: unknown, status: ToolStatus = 'running'): ToolCallPart => ({
  type: 'tool_call',
  id: `p_${tool}`,
  step: 1,
  call_id: 'c',
  tool,
  arguments: typeof args === 'string' ? args : JSON.stringify(args),
  status,
  output: '',
  result: null,
  approval_id: null,
  decided_by: null,
  duration_s: null,
})
const files = (...paths: string[]) => ({ files: paths.map((path) => ({ path, content: '"path": "no"' })) })
const step = (name: WorkflowStep['name'], status: WorkflowStep['status']): WorkflowStep => ({
  run_id: 'run_1',
  name,
  status,
  detail: '',
  duration_s: null,
})

test.each<[ToolCallPart, string]>([
  [call('create_or_update_files', files('app/page.tsx')), 'Writing app/page.tsx'],
  [call('create_or_update_files', files('a.tsx', 'b.tsx', 'c.tsx'), 'done'), 'Wrote 3 files'],
  [call('create_or_update_files', files('a.tsx', 'b.tsx'), 'denied'), 'Write 2 files'],
  [call('create_or_update_files', '{"files": [{"path": "app/pa', 'streaming'), 'Writing files'],
  [call('create_or_update_files', '{"files": [{"path": "app/page.tsx", "cont', 'streaming'), 'Writing app/page.tsx'],
  [call('read_files', { paths: ['a.tsx', 'b.tsx'] }), 'Reading 2 files'],
  [call('terminal', { command: './node_modules/.bin/tsc --noEmit' }), 'Checking types'],
  [call('terminal', { command: 'npm install zod @dnd-kit/core --silent' }), 'Installing zod, @dnd-kit/core'],
  [call('terminal', { command: 'npm ci' }, 'done'), 'Installed packages'],
  [call('terminal', { command: 'ls -la app' }), 'Looking at the files'],
  [call('terminal', { command: 'node build.mjs' }), 'Running a command'],
  [call('run_code', { language: 'python', code: '1' }), 'Running Python'],
  [call('start_service', { name: 'web', port: 3000 }), 'Starting web'],
  [call('propose_edits', { summary: 'Shorter' }), 'Writing edits'],
  [call('read_document', {}, 'done'), 'Read the document'],
  [call('search_files', { query: 'rice' }), 'Searching the files'],
  [call('read_file', { id: 'sales.csv', page: 2 }), 'Reading sales.csv'],
  [call('read_file', { id: 'art_01m7' }, 'done'), 'Read a file'],
  [call('use_skill', { name: 'pdf-forms' }, 'done'), 'Used the skill pdf-forms'],
  [call('use_skill', '{"na', 'streaming'), 'Taking up the skill'],
  [call('read_skill_file', { name: 'pdf-forms', path: 'fields.md' }, 'done'), 'Read fields.md'],
  [call('show_file', { path: 'report.md' }, 'done'), 'Showed report.md'],
  [call('something_else', {}), 'Calling something_else'],
  [call('linear__create_issue', {}), 'Calling linear.create_issue'],
  [call('__init__', {}), 'Calling __init__'],
])('a call is named by what it does: %#', (part, words) => {
  expect(toolLabel(part)).toBe(words)
})

describe('the steps of a run', () => {
  it('stand in the order in which they happen, with the calls in the middle', () => {
    const run = {
      parts: [call('read_files', { paths: ['a.tsx'] }, 'done'), call('terminal', { command: 'tsc' }, 'error')],
      workflow: [
        step('load_screen', 'done'),
        step('tell_context_lost', 'skipped'),
        step('agent', 'done'),
        step('check', 'started'),
      ],
    }
    expect(stepsOf(run).map(({ label, status }) => [label, status])).toEqual([
      ['Looked up the screen', 'complete'],
      ['Read a.tsx', 'complete'],
      ['Check types', 'failed'],
      ['Checking types and the page', 'active'],
    ])
  })

  it('name what is under way, but not the agent, which speaks for itself', () => {
    expect(workflowNow([step('load_screen', 'done'), step('open_sandbox', 'started')])).toBe('Opening the sandbox…')
    expect(workflowNow([step('open_sandbox', 'done'), step('agent', 'started')])).toBeNull()
    expect(workflowNow([])).toBeNull()
    expect(workflowNow([step('save_support', 'started')])).toBe('Save support…') // a step that only its agent knows
  })
})
