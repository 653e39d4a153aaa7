import { useQuery } from '@tanstack/react-query'
import { ChevronDown, Eye } from 'lucide-react'
import type { Model } from '@outlast/sdk'
import { Menu, MenuItem, MenuLabel } from '@/components/menu'
import { plural } from '@/lib/format'
import { modelsQuery } from '@/lib/queries'
import { useStored } from '@/lib/stored'

/** The models and the one that answers next: the last choice in this browser, else the server's default. */
export function useModelChoice() {
  const models = useQuery(modelsQuery).data?.items ?? []
  const [stored, choose] = useStored('outlast.model')
  const usable = models.filter(({ available }) => available)
  const model = usable.find(({ id }) => id === stored) ?? usable.find((m) => m.default) ?? usable[0] ?? null
  return { models, model, choose }
}

export function ModelSelect({
  models,
  model,
  onChoose,
}: {
  models: Model[]
  model: Model | null
  onChoose: (id: string) => void
}) {
  return (
    <Menu
      side="top"
      className="w-72"
      trigger={
        <button
          aria-label={`Model: ${model?.label ?? 'none'}`}
          className="flex h-7 min-w-0 items-center gap-1 rounded-lg px-2 text-[12.5px] text-muted hover:bg-hover hover:text-fg"
        >
          <span className="truncate">{model?.label ?? 'No model'}</span>
          <ChevronDown className="size-3.5 shrink-0" />
        </button>
      }
    >
      <MenuLabel>Which model answers</MenuLabel>
      {models.map((item) => (
        <MenuItem
          key={item.id}
          checked={item.id === model?.id}
          disabled={!item.available}
          onSelect={() => onChoose(item.id)}
        >
          <span className="min-w-0 flex-1">
            <span className="flex items-center gap-1.5">
              <span className="truncate">{item.label}</span>
              {item.vision && <Eye aria-label="Sees images" className="size-3.5!" />}
            </span>
            <span className="block text-xs text-faint">{describe(item)}</span>
          </span>
        </MenuItem>
      ))}
    </Menu>
  )
}

function describe(model: Model): string {
  if (!model.available) return model.reason ?? 'Not available'
  const price = model.credits === 0 ? 'free' : plural(model.credits, 'credit')
  const kind = model.demo ? 'plays recorded answers with real tool calls' : model.provider
  return `${price} · ${kind}${model.vision ? ' · sees images' : ''}`
}
