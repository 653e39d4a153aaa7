import { Bot, ChevronDown } from 'lucide-react'
import type { Agent } from '@outlast/sdk'
import { Menu, MenuItem, MenuLabel } from '@/components/menu'

export interface AgentSelectProps {
  agents: readonly Agent[]
  /** The name of the chosen one. */
  chosen: string | null
  onChoose: (name: string) => void
}

/** The agent for the next answers; nothing if there is no choice. */
export function AgentSelect({ agents, chosen, onChoose }: AgentSelectProps) {
  const agent = agents.find(({ name }) => name === chosen)
  if (agents.length < 2) return null
  return (
    <Menu
      side="top"
      className="w-80 max-w-[calc(100vw-1rem)]"
      trigger={
        <button
          aria-label={`Agent: ${agent?.title ?? chosen ?? 'none'}`}
          className="flex h-7 min-w-0 items-center gap-1 rounded-lg px-2 text-[12.5px] text-muted hover:bg-hover hover:text-fg"
        >
          <AgentIcon icon={agent?.icon ?? ''} />
          <span className="truncate">{agent?.title ?? chosen ?? 'No agent'}</span>
          <ChevronDown className="size-3.5 shrink-0" aria-hidden />
        </button>
      }
    >
      <MenuLabel>Agent for the answers</MenuLabel>
      {agents.map((item) => (
        <MenuItem
          key={item.name}
          data-agent={item.name}
          checked={item.name === chosen}
          disabled={!item.usable}
          onSelect={() => onChoose(item.name)}
        >
          <AgentIcon icon={item.icon} />
          <AgentText agent={item} />
        </MenuItem>
      ))}
    </Menu>
  )
}

function AgentText({ agent: { title, description, usable } }: { agent: Agent }) {
  const text = usable ? description : 'Not allowed in this project'
  return (
    <span className="min-w-0 flex-1">
      <span className="block truncate">{title}</span>
      {text !== '' && <span className="block text-xs text-faint">{text}</span>}
    </span>
  )
}

export const AgentIcon = ({ icon }: { icon: string }) => (
  <span className="grid h-5 w-4 shrink-0 place-items-center" aria-hidden>
    {icon === '' ? <Bot className="size-4 text-faint" /> : icon}
  </span>
)
