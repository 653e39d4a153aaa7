import type { ImagePart, Part } from '@outlast/sdk'

export interface Grouped {
  /** The parts without the images that are shown with their calls. */
  parts: Part[]
  /** By the id of a call's part. */
  images: Map<string, ImagePart[]>
}

/** The images that tools returned, with their calls. An image whose call is not there stays a part of its own. */
export function groupCallImages(parts: Part[]): Grouped {
  const images = new Map<string, ImagePart[]>()
  if (!parts.some((part) => part.type === 'image' && part.call_id)) return { parts, images }
  const callOf = (image: ImagePart): string | undefined =>
    parts.find((part) => part.type === 'tool_call' && part.call_id === image.call_id && part.step === image.step)?.id
  const kept = parts.filter((part) => {
    const call = part.type === 'image' && part.call_id ? callOf(part) : undefined
    if (part.type !== 'image' || call === undefined) return true
    images.set(call, [...(images.get(call) ?? []), part])
    return false
  })
  return { parts: kept, images }
}
