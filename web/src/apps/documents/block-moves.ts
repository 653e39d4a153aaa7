/** The new place of a block or section that is moved by one step. Pure. */
import type { DocumentChange, DocumentContent } from '@outlast/sdk'

/** One step up or down; at the edge of its section, into the neighbouring section. Null at the document's ends. */
export function blockMoved(content: DocumentContent, blockId: string, by: -1 | 1): DocumentChange | null {
  const block = content.blocks[blockId]
  const section = block && content.sections[block.section_id]
  if (block === undefined || section === undefined) return null
  const { blocks } = section
  const at = blocks.indexOf(blockId)
  const to = at + by
  const move = (section_id: string, after: string | null): DocumentChange => ({
    op: 'move_block',
    block_id: blockId,
    section_id,
    after,
  })
  if (to >= 0 && to < blocks.length) return move(section.id, by === 1 ? (blocks[to] ?? null) : (blocks[to - 1] ?? null))
  const beside = content.sections[content.order[content.order.indexOf(section.id) + by] ?? '']
  if (beside === undefined) return null
  return move(beside.id, by === 1 ? null : (beside.blocks.at(-1) ?? null))
}

/** A section moves together with its subsections: the deeper sections below it. */
export function sectionFamily(content: DocumentContent, sectionId: string): string[] {
  const at = content.order.indexOf(sectionId)
  const level = content.sections[sectionId]?.level ?? 0
  if (at === -1 || level === 0) return at === -1 ? [] : [sectionId]
  let end = at + 1
  while (end < content.order.length && (content.sections[content.order[end] ?? '']?.level ?? 0) > level) end += 1
  return content.order.slice(at, end)
}

/** The changes that put a section with its subsections after another one (null: at the beginning). Empty
 * if it is there already or would move into itself. The text before the first heading stays first. */
export function sectionMoves(content: DocumentContent, sectionId: string, after: string | null): DocumentChange[] {
  const family = sectionFamily(content, sectionId)
  const first = content.order[0]
  const intro = first !== undefined && content.sections[first]?.level === 0 ? first : null
  const target = after ?? intro
  if (family.length === 0 || sectionId === intro || (target !== null && family.includes(target))) return []
  const at = content.order.indexOf(sectionId)
  if ((content.order[at - 1] ?? null) === target) return []
  return family.map((section_id, place) => ({
    op: 'move_section',
    section_id,
    after: place === 0 ? target : (family[place - 1] ?? null),
  }))
}

/** One step up or down among all sections of a document; empty at the ends. */
export function sectionStepped(content: DocumentContent, sectionId: string, by: -1 | 1): DocumentChange[] {
  const family = sectionFamily(content, sectionId)
  const last = family.at(-1)
  if (last === undefined) return []
  if (by === 1) {
    const next = content.order[content.order.indexOf(last) + 1]
    if (next === undefined) return []
    return sectionMoves(content, sectionId, sectionFamily(content, next).at(-1) ?? next)
  }
  const at = content.order.indexOf(sectionId)
  const level = content.sections[sectionId]?.level ?? 1
  let before = at - 1
  while (before > 0 && (content.sections[content.order[before] ?? '']?.level ?? 0) > level) before -= 1
  if (before < 0 || content.sections[content.order[before] ?? '']?.level === 0) return []
  return sectionMoves(content, sectionId, content.order[before - 1] ?? null)
}
