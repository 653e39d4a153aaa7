import type { ImagePart, Part, SourcesPart } from '@outlast/sdk'

export interface Grouped {
  /** The parts without those that are shown with their calls. */
  parts: Part[]
  /** By the id of a call's part. */
  images: Map<string, ImagePart[]>
  sources: Map<string, SourcesPart>
}

/** The images and sources that tools returned, with their calls. One whose call is not there stays a part of its own. */
export function groupCallParts(parts: Part[]): Grouped {
  const images = new Map<string, ImagePart[]>()
  const sources = new Map<string, SourcesPart>()
  if (!parts.some(belongsToCall)) return { parts, images, sources }
  const callOf = (of: ImagePart | SourcesPart): string | undefined =>
    parts.find((part) => part.type === 'tool_call' && part.call_id === of.call_id && part.step === of.step)?.id
  const kept = parts.filter((part) => {
    const call = belongsToCall(part) ? callOf(part) : undefined
    if (!belongsToCall(part) || call === undefined) return true
    if (part.type === 'sources') sources.set(call, part)
    else images.set(call, [...(images.get(call) ?? []), part])
    return false
  })
  return { parts: kept, images, sources }
}

const belongsToCall = (part: Part): part is ImagePart | SourcesPart =>
  part.type === 'sources' || (part.type === 'image' && Boolean(part.call_id))
