/** A document's sections and blocks, and the effect of changes. Plain functions: states are never changed in place, and
 * unchanged parts stay the same objects, so that a component can detect changes. */
import type { BlockData, DocumentChange, DocumentChanges, SectionData, SectionHead } from './api.gen.ts'

/** A section with the ids of its blocks, in order. */
export interface SectionNode extends SectionHead {
  blocks: readonly string[]
}
export interface DocumentContent {
  version: number
  /** Section ids, in order. */
  order: readonly string[]
  sections: Readonly<Record<string, SectionNode>>
  blocks: Readonly<Record<string, BlockData>>
}

export const NO_CONTENT: DocumentContent = { version: -1, order: [], sections: {}, blocks: {} }

export function contentOf(version: number, sections: readonly SectionData[]): DocumentContent {
  return {
    version,
    order: sections.map(({ id }) => id),
    sections: Object.fromEntries(sections.map((one) => [one.id, { ...one, blocks: one.blocks.map(({ id }) => id) }])),
    blocks: Object.fromEntries(sections.flatMap((section) => section.blocks.map((block) => [block.id, block]))),
  }
}

/** The same content, reusing the objects of `known` for all equal parts. */
export function sharing(content: DocumentContent, known: DocumentContent): DocumentContent {
  const shared = <T>(items: Readonly<Record<string, T>>, others: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(items).map(([id, item]) => [id, same(item, others[id]) ? others[id]! : item]))
  return {
    version: content.version,
    order: same(content.order, known.order) ? known.order : content.order,
    sections: shared(content.sections, known.sections),
    blocks: shared(content.blocks, known.blocks),
  }
}

const same = (one: unknown, other: unknown): boolean =>
  other !== undefined && (one === other || JSON.stringify(one) === JSON.stringify(other))

/** The content after the server's changes since its version. */
export function withChanges(content: DocumentContent, changes: DocumentChanges): DocumentContent {
  const sections: Record<string, SectionNode> = { ...content.sections }
  const blocks: Record<string, BlockData> = { ...content.blocks }
  for (const head of changes.sections) sections[head.id] = { ...head, blocks: sections[head.id]?.blocks ?? [] }
  for (const block of changes.blocks) blocks[block.id] = block
  for (const [id, order] of Object.entries(changes.block_order)) {
    const section = sections[id]
    if (section !== undefined && !same(section.blocks, order)) sections[id] = { ...section, blocks: order }
  }
  for (const id of changes.removed) {
    delete sections[id]
    delete blocks[id]
  }
  const order = (changes.section_order ?? content.order).filter((id) => sections[id] !== undefined)
  return {
    version: changes.version,
    order: same(order, content.order) ? content.order : order,
    sections,
    blocks,
  }
}

/** The optimistic content, shown until the server answers a change. `ref` names new blocks and sections until they have
 * an id. An impossible change leaves the content as it is. */
export function foreseen(content: DocumentContent, change: DocumentChange): DocumentContent {
  switch (change.op) {
    case 'edit_block': {
      const block = content.blocks[change.block_id]
      if (block === undefined) return content
      if (change.markdown.trim() === '') return withoutBlock(content, change.block_id)
      const edited = { ...block, markdown: change.markdown }
      return { ...content, blocks: { ...content.blocks, [block.id]: edited } }
    }
    case 'delete_block':
      return withoutBlock(content, change.block_id)
    case 'move_block': {
      const block = content.blocks[change.block_id]
      const section_id = change.section_id ?? preamble(content)
      if (block === undefined || content.sections[section_id] === undefined) return content
      return withBlock(withoutBlock(content, block.id), { ...block, section_id }, change.after)
    }
    case 'insert_block': {
      const section_id = change.section_id ?? preamble(content)
      if (change.ref == null || content.sections[section_id] === undefined) return content
      return withBlock(content, newBlock(change.ref, section_id, change.markdown), change.after)
    }
    case 'edit_section': {
      const section = content.sections[change.section_id]
      if (section === undefined) return content
      const heading = change.heading ?? section.heading
      const level = change.level ?? section.level
      return { ...content, sections: { ...content.sections, [section.id]: { ...section, heading, level } } }
    }
    case 'move_section': {
      // Sections below it in the outline move only when the server reports it.
      if (!content.order.includes(change.section_id) || change.whole === true) return content
      return { ...content, order: movedTo(content.order, change.section_id, change.after) }
    }
    case 'delete_section': {
      // Parts newer than the seen version stay until the server agrees: it may refuse.
      if (change.keep_blocks === true || change.seen != null) return content
      const { [change.section_id]: gone, ...sections } = content.sections
      return gone === undefined
        ? content
        : { ...content, sections, order: content.order.filter((id) => id !== change.section_id) }
    }
    case 'insert_section': {
      if (change.ref == null) return content
      const { ref: id, heading, level = 2 } = change
      const document_id = Object.values(content.sections)[0]?.document_id ?? ''
      const section: SectionNode = { id, document_id, heading, level, version: content.version, lock: null, blocks: [] }
      const order = movedTo(content.order, id, change.after)
      const made = { ...content, order, sections: { ...content.sections, [id]: section } }
      const text = change.markdown?.trim() ?? ''
      return text === '' ? made : withBlock(made, newBlock(`${id}.text`, id, text), null)
    }
  }
}

/** The section before the first heading; empty if there is none. */
const preamble = ({ order, sections }: DocumentContent): string => order.find((id) => sections[id]?.level === 0) ?? ''

const newBlock = (id: string, section_id: string, markdown: string): BlockData => ({
  id,
  section_id,
  kind: 'paragraph',
  markdown,
  version: 0,
  editor_kind: 'person',
  editor_id: null,
  editor_name: null,
  updated_at: '',
})

/** `id` after `after` (first if null), or at the end if `after` is missing. Pure. */
export function movedTo(order: readonly string[], id: string, after: string | null): string[] {
  const others = order.filter((one) => one !== id)
  const at = after === null ? 0 : others.indexOf(after) + 1
  return others.toSpliced(after !== null && at === 0 ? others.length : at, 0, id)
}

function withBlock(content: DocumentContent, block: BlockData, after: string | null): DocumentContent {
  const section = content.sections[block.section_id]
  if (section === undefined) return content
  const grown = { ...section, blocks: movedTo(section.blocks, block.id, after) }
  return {
    ...content,
    sections: { ...content.sections, [section.id]: grown },
    blocks: { ...content.blocks, [block.id]: block },
  }
}

function withoutBlock(content: DocumentContent, id: string): DocumentContent {
  const { [id]: block, ...blocks } = content.blocks
  const section = block && content.sections[block.section_id]
  if (section === undefined) return content
  const left = { ...section, blocks: section.blocks.filter((one) => one !== id) }
  return { ...content, sections: { ...content.sections, [section.id]: left }, blocks }
}

/** The ids of all blocks, in the order of the document. */
export const blockOrder = ({ order, sections }: DocumentContent): string[] =>
  order.flatMap((id) => sections[id]?.blocks ?? [])
