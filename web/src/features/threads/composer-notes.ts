/** Problems of a message, shown before it is sent, with a fix if there is one. Pure. */
import type { Credits, Model } from '@outlast/sdk'
import { bytes, plural } from '@/lib/format'
import { cheaperModel, visionModel } from './model-choice'

export interface ComposerNote {
  text: string
  /** The message may be sent anyway. */
  soft: boolean
  /** A model that can answer the message. */
  model: Model | null
}

interface Draft {
  size: number
  limit: number
  images: number
  models: readonly Model[] | null
  model: Model | null
  credits: Pick<Credits, 'balance' | 'low' | 'resets_at'> | null
}

export function noteFor(draft: Draft): ComposerNote | null {
  const { size, limit, images, models, model, credits } = draft
  const balance = credits?.balance ?? null
  if (size > limit) return hard(`The message is ${bytes(size)}. The limit is ${bytes(limit)}.`)
  if (models === null) return null
  if (model === null) return hard(models.length === 0 ? NO_MODEL : NO_KEY)
  if (images > 0 && !model.vision) return blind(model, visionModel(models, balance))
  if (balance !== null && model.credits > balance) {
    const text = `An answer from ${model.label} costs ${plural(model.credits, 'credit')}; ${left(balance)}.${resets(credits)}`
    return hard(text, cheaperModel(models, balance, images > 0))
  }
  if (balance !== null && credits?.low === true)
    return { text: `You are running low on credits: ${left(balance)}.${resets(credits)}`, soft: true, model: null }
  return null
}

const NO_MODEL = 'No model is connected to this server yet. Ask its administrator to connect one.'
const NO_KEY = 'No model is available, because no API key is set on the server. Ask its administrator to set one.'

const hard = (text: string, model: Model | null = null): ComposerNote => ({ text, soft: false, model })

const blind = (model: Model, other: Model | null): ComposerNote =>
  other === null
    ? hard(
        `${model.label} cannot see images, and neither can any other model here. Remove the images, or ask an administrator to add a model.`,
      )
    : hard(`${model.label} cannot see images. Choose a model that can, or remove the images.`, other)

/** "you have 2 credits left". */
export const left = (balance: number): string =>
  balance === 0 ? 'you have none left this month' : `you have ${plural(balance, 'credit')} left this month`

/** " Credits reset on 1 December."; empty if the date is not known. */
export function resets(credits: Pick<Credits, 'resets_at'> | null): string {
  if (credits === null || credits.resets_at === null) return ''
  const day = new Date(credits.resets_at).toLocaleDateString([], { month: 'long', day: 'numeric' })
  return ` Credits reset on ${day}.`
}
