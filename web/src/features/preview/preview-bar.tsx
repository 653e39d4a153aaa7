import { ChevronDown, ExternalLink, RotateCw, X } from 'lucide-react'
import { useState } from 'react'
import type { PreviewPort } from '@outlast/sdk'
import { Button, IconButton } from '@/components/button'
import { Menu, MenuItem, MenuLabel } from '@/components/menu'
import { complain } from '@/components/toast'
import { client } from '@/lib/queries'
import { lookOfService } from '../sandboxes/sandbox-state'
import { labelOf, portOf } from './preview-ports'
import { WIDTHS, type Width } from './preview-widths'

interface BarProps {
  sandboxId: string
  ports: PreviewPort[]
  port: number | null
  width: Width
  onPort: (port: number) => void
  onWidth: (width: Width) => void
  onReload: () => void
  onClose: () => void
}

/** Port and width of the preview, with buttons to reload, open and close it. */
export function PreviewBar({ sandboxId, ports, port, width, onPort, onWidth, onReload, onClose }: BarProps) {
  return (
    <header className="flex h-11 shrink-0 items-center gap-1 border-b border-line px-2">
      <Ports ports={ports} port={port} onPort={onPort} />
      <div role="group" aria-label="Width" className="ml-auto flex max-sm:hidden">
        {Object.entries(WIDTHS).map(([name, { label, icon: Icon }]) => (
          <IconButton
            key={name}
            label={label}
            size="icon-sm"
            aria-pressed={name === width}
            className={name === width ? 'bg-active text-fg' : ''}
            onClick={() => onWidth(name as Width)}
          >
            <Icon />
          </IconButton>
        ))}
      </div>
      <span aria-hidden className="mx-1 h-5 w-px bg-line max-sm:ml-auto" />
      <IconButton label="Reload the preview" size="icon-sm" disabled={port === null} onClick={onReload}>
        <RotateCw />
      </IconButton>
      <OpenInTab sandboxId={sandboxId} port={port} />
      <IconButton label="Close the preview" size="icon-sm" onClick={onClose}>
        <X />
      </IconButton>
    </header>
  )
}

/** The click itself opens the window, or the browser would block it as a pop-up. */
function OpenInTab({ sandboxId, port }: { sandboxId: string; port: number | null }) {
  const open = () => {
    if (port === null) return
    const tab = window.open('about:blank', '_blank')
    client.openPreview(sandboxId, port).then(
      ({ ticket_url }) => {
        if (tab === null) location.assign(ticket_url)
        else {
          tab.opener = null
          tab.location.replace(ticket_url)
        }
      },
      (reason: Error) => (tab?.close(), complain(reason)),
    )
  }
  return (
    <IconButton label="Open in a new tab" size="icon-sm" disabled={port === null} onClick={open}>
      <ExternalLink />
    </IconButton>
  )
}

function Ports({ ports, port, onPort }: Pick<BarProps, 'ports' | 'port' | 'onPort'>) {
  const chosen = ports.find((one) => one.port === port)
  const title = chosen !== undefined ? labelOf(chosen) : port === null ? 'Choose a port' : `Port ${port}`
  return (
    <Menu
      trigger={
        <Button size="sm" look="ghost" aria-label={`Port: ${title}`}>
          {chosen?.service != null && <State port={chosen} />}
          <span className="max-w-40 truncate">{title}</span>
          <ChevronDown />
        </Button>
      }
    >
      <MenuLabel>Ports of the sandbox</MenuLabel>
      {ports.map((one) => (
        <MenuItem key={one.port} checked={one.port === port} onSelect={() => onPort(one.port)}>
          <State port={one} />
          {labelOf(one)}
        </MenuItem>
      ))}
      <OtherPort onPort={onPort} />
    </Menu>
  )
}

function OtherPort({ onPort }: { onPort: (port: number) => void }) {
  const [text, setText] = useState('')
  const port = portOf(text)
  return (
    <form
      className="flex gap-1.5 p-1"
      onSubmit={(event) => {
        event.preventDefault()
        if (port !== null) onPort(port)
      }}
    >
      <input
        aria-label="Another port"
        placeholder="Another port"
        inputMode="numeric"
        className="h-7 w-32 rounded-md border border-line-strong bg-bg px-2 outline-none focus:border-accent"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.stopPropagation()}
      />
      <Button size="sm" type="submit" disabled={port === null}>
        Show
      </Button>
    </form>
  )
}

function State({ port: { state, listening } }: { port: PreviewPort }) {
  const dot = state !== null ? lookOfService({ state }).dot : listening ? 'bg-ok' : 'bg-faint'
  return <span aria-hidden className={`size-2 shrink-0 rounded-full ${dot}`} />
}
