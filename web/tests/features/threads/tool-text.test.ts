import { expect, test } from 'vitest'
import { ending, evaluation, exitCode, filesOf, questionsAndAnswers, title } from '@/features/threads/tool-text'

test.each([
  ['terminal', { command: 'ls\npwd' }, 'ls'],
  ['run_code', { language: 'python', code: '\n1 + 1' }, 'python: 1 + 1'],
  [
    'create_or_update_files',
    {
      files: [
        { path: 'a', content: '' },
        { path: 'b', content: '' },
      ],
    },
    'a, b',
  ],
  ['start_service', { name: 'web', command: 'npm run dev', port: 3000 }, 'web on port 3000: npm run dev'],
  ['read_files', { paths: ['a', 'b'] }, 'a, b'],
  ['ask_user', { questions: [{ id: 'q', question: 'Why?' }] }, 'Why?'],
  ['another', { first: { nested: 1 } }, '{"nested":1}'],
  ['terminal', null, ''],
])('%s says what it does in one line', (tool, args, line) => {
  expect(title(tool, args)).toBe(line)
})

test('the exit status is read from the end of a command\u2019s result', () => {
  expect(exitCode({ tool: 'terminal', result: 'line\n[exit code 3]' })).toBe(3)
  expect(exitCode({ tool: 'terminal', result: 'A person denied this call.' })).toBeNull()
  expect(exitCode({ tool: 'read_files', result: '[exit code 3]' })).toBeNull()
  expect(ending('[no output, exit code 0]')).toBe('no output, exit code 0')
})

test('files without a path are left out', () => {
  expect(filesOf({ files: [{ path: 'a', content: 'x' }, { content: 'y' }, null] })).toEqual([
    { path: 'a', content: 'x' },
  ])
})

test('an evaluation is told from other results', () => {
  expect(evaluation({ success: true, result: 204, error: null, stdout: 'a' })?.result).toBe(204)
  expect(evaluation({ answer: 1 })).toBeNull()
})

test('answers stand beside their questions', () => {
  const asked = {
    questions: [
      { id: 'a', question: 'One?' },
      { id: 'b', question: 'Many?' },
    ],
  }
  expect(questionsAndAnswers(asked, { answers: { a: 'x', b: ['y', 'z'] } })).toEqual([
    ['One?', 'x'],
    ['Many?', 'y, z'],
  ])
})
