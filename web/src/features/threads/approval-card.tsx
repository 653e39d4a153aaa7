import { useMutation, useQuery } from '@tanstack/react-query'
import { ShieldQuestion } from 'lucide-react'
import { useMemo, useState } from 'react'
import { OutlastError, toolName, type Approval, type ApprovalDecision } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Input, TextArea } from '@/components/field'
import { Problem } from '@/components/problem'
import { parseObject, prettyJson } from '@/lib/format'
import { client, queryClient } from '@/lib/queries'
import { ClockNote } from './clock-note'
import { useOpenThread, useThreadFacts } from './thread-context'
import { useThreadViews } from './thread-views'
import { Block } from './tool-body'

/** A tool call that needs approval: review, edit, approve or deny it. */
export function ApprovalCard({ approval }: { approval: Approval }) {
  const { open } = useOpenThread()
  const { mayWrite } = useThreadFacts()
  const run = open.runs[approval.run_id]
  return (
    <section
      aria-label={`Approval for ${toolName(approval.tool)}`}
      data-approval={approval.id}
      className="overflow-hidden rounded-xl border border-warn-line bg-raised"
    >
      <header className="flex items-start gap-2.5 bg-warn-soft px-3.5 py-2.5">
        <ShieldQuestion className="mt-px size-4.5 shrink-0 text-warn" aria-hidden />
        <div className="min-w-0 flex-1">
          <h2 className="font-medium">
            Allow <code className="font-mono text-[13px]">{toolName(approval.tool)}</code> to run?
          </h2>
          {approval.reason !== '' && <p className="text-muted">{approval.reason}</p>}
        </div>
        {run !== undefined && run.status === 'awaiting_approval' && (
          <ClockNote run={run} className="shrink-0 text-right text-xs text-muted" />
        )}
      </header>
      {mayWrite ? <Decide key={approval.id} approval={approval} /> : <ReadOnly approval={approval} />}
    </section>
  )
}

function ReadOnly({ approval }: { approval: Approval }) {
  return (
    <div className="space-y-2 p-3">
      <Shown approval={approval} />
      <p className="text-xs text-muted">Only an owner, or an editor who drives this thread, can decide.</p>
    </div>
  )
}

function Shown({ approval }: { approval: Approval }) {
  const { label, text } = editable(approval)
  return <Block label={label} text={text} language={label === 'command' ? 'bash' : 'json'} />
}

interface Editable {
  label: string
  text: string
  /** The whole arguments as JSON text with the edited text in its place. */
  wrap: (text: string) => string
}

const MAIN: Record<string, string> = { terminal: 'command', run_code: 'code' }

/** The part that a person edits: the command or code if the tool has one, else the arguments as JSON. */
function editable({ tool, arguments: json }: Approval): Editable {
  const args = parseObject(json)
  const name = MAIN[tool]
  const main = name === undefined ? undefined : args?.[name]
  if (name === undefined || typeof main !== 'string')
    return { label: 'Arguments', text: prettyJson(json), wrap: (text) => text }
  return { label: name, text: main, wrap: (text) => JSON.stringify({ ...args, [name]: text }) }
}

const isToolChanged = (error: Error) => error instanceof OutlastError && error.code === 'tool_changed'

/** Says that the call would run other code than the one that asked, and whether that code takes these arguments. */
function ChangedTool({ problem }: { problem: string | null }) {
  return (
    <p role="status" data-tool-changed className="rounded-lg bg-warn-soft px-2.5 py-2 text-[13px] text-warn">
      This tool was changed since it asked; if you approve, it runs as it is now.
      {problem !== null && <> It refuses these arguments: {problem} Edit them, or deny the call.</>}
    </p>
  )
}

type Mode = 'look' | 'edit' | 'deny'

function Decide({ approval }: { approval: Approval }) {
  const { decidedEachTime } = useThreadViews()
  const [mode, setMode] = useState<Mode>('look')
  const field = useMemo(() => editable(approval), [approval])
  const [draft, setDraft] = useState(field.text)
  const [reason, setReason] = useState('')
  const [remember, setRemember] = useState(false)
  const queryKey = ['approval', approval.id]
  const { data } = useQuery({ queryKey, queryFn: ({ signal }) => client.approval(approval.id, signal), staleTime: 0 })
  const change = data?.tool_change ?? null
  const decide = useMutation({
    mutationFn: (body: ApprovalDecision) => client.decide(approval.id, body),
    onError: () => queryClient.invalidateQueries({ queryKey }),
  })
  const valid = mode !== 'edit' || parseObject(field.wrap(draft)) !== null
  const approve = () =>
    decide.mutate({
      decision: 'approve',
      ...(change !== null && { tool_version: change.tool_version }),
      ...(mode === 'edit' && draft !== field.text && { arguments: field.wrap(draft) }),
      ...(remember && { remember: 'thread' }),
    })
  const deny = () => decide.mutate({ decision: 'deny', ...(reason.trim() !== '' && { reason: reason.trim() }) })
  return (
    <div className="space-y-3 p-3">
      {mode === 'edit' ? (
        <>
          <TextArea
            autoFocus
            aria-label={field.label}
            aria-invalid={!valid}
            rows={Math.min(14, Math.max(2, draft.split('\n').length))}
            className="font-mono text-xs leading-relaxed"
            value={draft}
            onChange={(event) => setDraft(event.target.value)}
          />
          {!valid && <p className="text-xs text-danger">Enter a valid JSON object.</p>}
        </>
      ) : (
        <Shown approval={approval} />
      )}
      {mode === 'deny' && (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            deny()
          }}
        >
          <Input
            autoFocus
            aria-label="Reason for denying"
            placeholder="Reason (optional, sent to the agent)"
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
        </form>
      )}
      {change !== null && <ChangedTool problem={change.problem} />}
      {decide.error !== null && !isToolChanged(decide.error) && <Problem error={decide.error} />}
      {mode !== 'deny' && !decidedEachTime.has(approval.tool) && (
        <label className="flex w-fit items-center gap-2 text-[13px] text-muted">
          <input
            type="checkbox"
            className="accent-accent"
            checked={remember}
            onChange={(event) => setRemember(event.target.checked)}
          />
          Always allow this exact call in this thread
        </label>
      )}
      <div className="flex flex-wrap gap-2">
        {mode === 'deny' ? (
          <>
            <Button look="danger" busy={decide.isPending} onClick={deny}>
              Deny
            </Button>
            <Button look="ghost" onClick={() => setMode('look')}>
              Back
            </Button>
          </>
        ) : (
          <>
            <Button look="primary" busy={decide.isPending} disabled={!valid} onClick={approve}>
              {change !== null ? 'Approve the changed tool' : mode === 'edit' ? 'Approve edited call' : 'Approve'}
            </Button>
            <Button disabled={decide.isPending} onClick={() => setMode('deny')}>
              Deny…
            </Button>
            <Button look="ghost" disabled={decide.isPending} onClick={() => setMode(mode === 'edit' ? 'look' : 'edit')}>
              {mode === 'edit' ? 'Cancel editing' : 'Edit arguments'}
            </Button>
          </>
        )}
      </div>
    </div>
  )
}
