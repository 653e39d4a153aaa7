import { useEffect, useRef } from 'react'
import type { ToolCallPart } from '@outlast/sdk'
import { Code } from '@/components/code'
import { CopyIcon } from '@/components/copy'
import { cn } from '@/lib/cn'
import { parseObject, prettyJson } from '@/lib/format'
import { ending, evaluation, filesOf, questionsAndAnswers, readable } from './tool-text'

/** All details of a call: its arguments in a form that fits the tool, its live output, its result. */
export function ToolBody({ part }: { part: ToolCallPart }) {
  return (
    <div className="space-y-2.5 border-t border-line p-2.5">
      <Inside part={part} />
    </div>
  )
}

function Inside({ part }: { part: ToolCallPart }) {
  const { tool, output, result } = part
  const args = parseObject(part.arguments)
  if (tool === 'terminal' && typeof args?.['command'] === 'string')
    return <Command command={args['command']} output={output} result={result} />
  const value = parseObject(result ?? '')
  const evaluated = tool === 'run_code' ? evaluation(value) : null
  const shown = output.trim() === '' ? (evaluated?.stdout ?? '') : output
  return (
    <>
      {tool === 'ask_user' && value !== null ? (
        <Answers pairs={questionsAndAnswers(args, value)} />
      ) : (
        <>
          <Arguments tool={tool} args={args} raw={part.arguments} />
          {shown.trim() !== '' && <Terminal text={shown} />}
          {/* The result only confirms the files shown above. */}
          {evaluated === null && !(tool === 'create_or_update_files' && part.status === 'done') && (
            <Result text={result} />
          )}
        </>
      )}
      {evaluated !== null && readable(evaluated.result) !== '' && (
        <Block label="Result" text={readable(evaluated.result)} />
      )}
      {evaluated !== null && readable(evaluated.error) !== '' && (
        <Block label="Error" text={readable(evaluated.error)} danger />
      )}
    </>
  )
}

/** A command as in a terminal. A result that is not part of the output (a refusal, a time-out) is appended. */
function Command({ command, output, result }: { command: string; output: string; result: string | null }) {
  const resultText = result ?? ''
  const isOutput = output.trim() !== '' || ending(resultText) !== ''
  const text = output.trim() === '' ? resultText.replace(/\[[^\]\n]*\]\s*$/, '') : output
  return (
    <>
      <Terminal command={command} text={isOutput ? text : ''} end={ending(resultText)} />
      {!isOutput && <Result text={resultText} />}
    </>
  )
}

const Result = ({ text }: { text: string | null }) =>
  text === null || text === '' ? null : <Block label="Result" text={prettyJson(text)} />

function Answers({ pairs }: { pairs: [string, string][] }) {
  return (
    <dl className="space-y-2 px-1 py-0.5">
      {pairs.map(([question, answer]) => (
        <div key={question}>
          <dt className="text-xs text-muted">{question}</dt>
          <dd className="text-[13.5px]">{answer === '' ? '–' : answer}</dd>
        </div>
      ))}
    </dl>
  )
}

function Arguments({ tool, args, raw }: { tool: string; args: Record<string, unknown> | null; raw: string }) {
  if (args === null) return raw === '' ? null : <Block label="Arguments" text={raw} />
  if (tool === 'run_code' && typeof args['code'] === 'string')
    return <Block label={languageOf(args)} text={args['code']} language={languageOf(args)} />
  const files = tool === 'create_or_update_files' ? filesOf(args) : []
  if (files.length > 0)
    return files.map(({ path, content }) => <Block key={path} label={path} text={content} language={endingOf(path)} />)
  return <Block label="Arguments" text={JSON.stringify(args, null, 2)} language="json" />
}

const languageOf = (args: Record<string, unknown>): string =>
  typeof args['language'] === 'string' ? args['language'] : 'code'

const endingOf = (path: string): string => /\.(\w+)$/.exec(path)?.[1] ?? ''

interface BlockProps {
  label: string
  text: string
  /** A language or a file extension. */
  language?: string
  danger?: boolean
}

/** Languages whose lines may wrap; other code does not. */
const PROSE = new Set(['', 'bash', 'json', 'md'])

export function Block({ label, text, language = '', danger = false }: BlockProps) {
  return (
    <div className="overflow-hidden rounded-lg border border-line bg-code">
      <div className="flex h-7 items-center justify-between pr-0.5 pl-2.5 text-xs text-faint">
        <span className="truncate">{label}</span>
        <CopyIcon text={text} />
      </div>
      <pre
        className={cn(
          'max-h-80 overflow-auto px-2.5 pb-2.5 font-mono text-xs leading-relaxed',
          PROSE.has(language) && 'whitespace-pre-wrap [overflow-wrap:anywhere]',
          danger && 'text-danger',
        )}
      >
        <Code text={text} language={language} />
      </pre>
    </div>
  )
}

/** The live output of the tool; scrolls with it unless the reader has scrolled up. */
function Terminal({ command, text, end = '' }: { command?: string; text: string; end?: string }) {
  const box = useRef<HTMLPreElement>(null)
  const stick = useRef(true)
  useEffect(() => {
    const area = box.current
    if (area !== null && stick.current) area.scrollTop = area.scrollHeight
  }, [text])
  return (
    <div className="group/term relative">
      <pre
        ref={box}
        data-terminal
        aria-label="Output"
        tabIndex={0}
        className="max-h-80 overflow-auto rounded-lg bg-term px-3 py-2.5 font-mono text-xs leading-relaxed whitespace-pre-wrap text-term-fg [overflow-wrap:anywhere]"
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          stick.current = scrollHeight - scrollTop - clientHeight < 24
        }}
      >
        {command !== undefined && (
          <span className="text-white">
            <span className="text-term-fg/50 select-none">$ </span>
            {command}
            {text !== '' && '\n'}
          </span>
        )}
        {plain(text)}
        {end !== '' && <span className="block text-term-fg/50">{end}</span>}
      </pre>
      <span className="absolute top-1 right-1 rounded-md bg-term opacity-0 group-focus-within/term:opacity-100 group-hover/term:opacity-100">
        <CopyIcon label="Copy output" text={() => plain(text)} />
      </span>
    </div>
  )
}

/** Without colour codes; a line that was overwritten is shown in its last state. */
function plain(text: string): string {
  // oxlint-disable-next-line no-control-regex -- escape sequences are control characters
  const bare = text.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, '').replace(/\r\n/g, '\n')
  return bare.replace(/[^\n]*\r(?=[^\n])/g, '')
}
