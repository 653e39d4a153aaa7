import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Model } from '@outlast/sdk'
import { modelsQuery } from '@/lib/queries'
import { useStored } from '@/lib/local-storage'

const NONE: Model[] = []

/** The models and the selected one: the last choice in this browser, else the server's default. */
export function useModelChoice() {
  const loaded = useQuery(modelsQuery).data?.items
  const models = loaded ?? NONE
  const [stored, choose] = useStored('outlast.model')
  const usable = models.filter(({ available }) => available)
  const model = usable.find(({ id }) => id === stored) ?? usable.find((m) => m.default) ?? usable[0] ?? null
  return { models, model, choose, loaded: loaded !== undefined }
}

/** The label of a model; its id if it is no longer offered. */
export function useModelLabel(id: string | null): string | null {
  const models = useQuery(modelsQuery).data?.items
  return useMemo(() => models?.find((model) => model.id === id)?.label ?? id, [models, id])
}

/** The best model for images: affordable ones first, then the cheapest. Pure. */
export function visionModel(models: readonly Model[], balance: number | null): Model | null {
  return cheapest(
    models.filter(({ available, vision }) => available && vision),
    balance,
  )
}

/** The cheapest model that the balance covers, unless it is the present one. Pure. */
export function cheaperModel(models: readonly Model[], balance: number, needsVision: boolean): Model | null {
  const fitting = models.filter(
    (model) => model.available && (model.vision || !needsVision) && model.credits <= balance,
  )
  return cheapest(fitting, balance)
}

function cheapest(models: readonly Model[], balance: number | null): Model | null {
  const byPrice = models.toSorted((a, b) => a.credits - b.credits)
  return byPrice.find(({ credits }) => balance === null || credits <= balance) ?? byPrice[0] ?? null
}
