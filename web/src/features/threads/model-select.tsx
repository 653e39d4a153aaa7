import { ChevronDown, Eye, KeyRound } from 'lucide-react'
import type { Model } from '@outlast/sdk'
import { Menu, MenuItem, MenuLabel } from '@/components/menu'
import { cn } from '@/lib/cn'
import { plural } from '@/lib/format'

interface ModelSelectProps {
  models: Model[]
  model: Model | null
  /** The remaining credits; null: unlimited or unknown. */
  balance: number | null
  onChoose: (id: string) => void
}

/** The model for the next answers: image support, cost, and why a model is unavailable. */
export function ModelSelect({ models, model, balance, onChoose }: ModelSelectProps) {
  return (
    <Menu
      side="top"
      className="w-76"
      trigger={
        <button
          aria-label={`Model: ${model?.label ?? 'none'}`}
          className="flex h-7 min-w-0 shrink-[4] items-center gap-1 rounded-lg px-2 text-[12.5px] text-muted hover:bg-hover hover:text-fg"
        >
          <span className="truncate">{model?.label ?? 'No model'}</span>
          {model?.vision === true && <Eye aria-label="Sees images" className="size-3.5 shrink-0 text-faint" />}
          <ChevronDown className="size-3.5 shrink-0" aria-hidden />
        </button>
      }
    >
      <MenuLabel>Model for the answers</MenuLabel>
      {models.map((item) => (
        <MenuItem
          key={item.id}
          data-model={item.id}
          checked={item.id === model?.id}
          disabled={!item.available}
          onSelect={() => onChoose(item.id)}
        >
          <Row model={item} balance={balance} />
        </MenuItem>
      ))}
    </Menu>
  )
}

function Row({ model, balance }: { model: Model; balance: number | null }) {
  const short = model.available && balance !== null && model.credits > balance
  return (
    <span className="flex min-w-0 flex-1 items-start gap-2">
      <span className="min-w-0 flex-1">
        <span className="flex items-center gap-1.5">
          <span className="truncate">{model.label}</span>
          {model.vision && <Eye aria-label="Sees images" className="size-3.5!" />}
        </span>
        <span className="block text-xs text-faint">
          {model.available ? describe(model) : (model.reason ?? 'Not available')}
        </span>
      </span>
      {model.available ? (
        <span className={cn('mt-px shrink-0 text-xs tabular-nums', short ? 'text-warn' : 'text-muted')}>
          {model.credits === 0 ? 'free' : plural(model.credits, 'credit')}
          {short && <span className="block text-right">not enough</span>}
        </span>
      ) : (
        <KeyRound aria-label="Not available" className="mt-0.5 size-3.5!" />
      )}
    </span>
  )
}

function describe({ demo, provider, vision }: Model): string {
  const kind = demo ? 'replays recorded answers with real tool calls' : provider
  return vision ? `${kind} · sees images` : kind
}
