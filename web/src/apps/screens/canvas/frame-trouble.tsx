import { useQuery } from '@tanstack/react-query'
import { CircleAlert, RotateCw, Sparkles } from 'lucide-react'
import type { ReactNode } from 'react'
import { OutlastError, type Sandbox, type ScreenData } from '@outlast/sdk'
import { Button } from '@/components/button'
import { client } from '@/lib/queries'
import { useCanvas } from './canvas-context'
import type { FrameOpening } from './frame-opening'
import { DEV } from './screen-state-text'

interface TroubleProps {
  screen: ScreenData
  sandbox: Sandbox | undefined
  opening: FrameOpening
}

/** Why the app cannot be shown, and the available actions. */
export function FrameTrouble({ screen, sandbox, opening }: TroubleProps) {
  if (screen.trouble !== null && opening.entry === null)
    return <Refused error={new Error(screen.trouble)} again={opening.wake} />
  if (opening.error !== null) return <Refused error={opening.error} again={opening.again} />
  if (opening.way === 'asleep' && screen.trouble !== null)
    return <Refused error={new Error(screen.trouble)} again={opening.again} />
  if (opening.way === 'failed' && sandbox !== undefined)
    return <ServerFailed screen={screen} sandbox={sandbox} again={opening.again} />
  return null
}

const Cover = ({ title, children }: { title: string; children: ReactNode }) => (
  <div
    role="alert"
    className="nodrag nowheel absolute inset-0 flex cursor-default flex-col items-center justify-center gap-4 overflow-hidden bg-raised/97 p-8 text-center"
  >
    <CircleAlert className="size-8 shrink-0 text-danger" aria-hidden />
    <p className="text-[19px] font-semibold">{title}</p>
    {children}
  </div>
)

function Refused({ error, again }: { error: Error; again: () => void }) {
  const hint = error instanceof OutlastError ? error.hint : ''
  return (
    <Cover title="This screen could not be opened">
      <p className="max-w-md text-[15px] text-muted">
        {error.message} {hint}
      </p>
      <Button onClick={again}>
        <RotateCw />
        Try again
      </Button>
    </Cover>
  )
}

const LAST_LINES = 24

function ServerFailed({ screen, sandbox, again }: { screen: ScreenData; sandbox: Sandbox; again: () => void }) {
  const { actions, mayEdit } = useCanvas()
  const { data } = useQuery({
    queryKey: ['sandbox-logs', sandbox.id],
    queryFn: ({ signal }) => client.sandboxLogs(sandbox.id, signal),
    staleTime: 0,
  })
  const service = sandbox.services.find(({ name }) => name === DEV)
  const log = endOf(data?.items.find(({ source }) => source === DEV)?.text ?? '')
  const output = [service?.error ?? '', log].filter((text) => text !== '').join('\n\n')
  return (
    <Cover title="The development server failed">
      {service?.error != null && <p className="max-w-xl text-[15px] text-muted">{service.error}</p>}
      {log !== '' && (
        <pre className="max-h-[45%] w-full max-w-2xl overflow-auto rounded-xl bg-term px-4 py-3 text-left font-mono text-[13px] leading-relaxed whitespace-pre-wrap text-term-fg select-text">
          {log}
        </pre>
      )}
      <div className="flex flex-wrap justify-center gap-3">
        {mayEdit && (
          <Button look="primary" onClick={() => actions.askAgent(screen, fixRequest(output))}>
            <Sparkles />
            Ask the agent to fix it
          </Button>
        )}
        <Button
          onClick={() => {
            void client.screens.open(screen.id).catch(() => undefined)
            again()
          }}
        >
          <RotateCw />
          Restart the server
        </Button>
      </div>
    </Cover>
  )
}

const endOf = (text: string): string => text.trimEnd().split('\n').slice(-LAST_LINES).join('\n')

const fixRequest = (said: string): string =>
  `The development server of this screen is not running. Find the cause and fix it.${said === '' ? '' : `\n\n\`\`\`\n${said}\n\`\`\``}`
