/** Additions to a block, such as comments and proposed edits. Each slot is a small component that reads its own store
 * by the block's id, so that a new comment or proposal renders this block only. */
import { CommentCount, useCommentMarks } from './comments/block-marks'
import { CommentsOverlay } from './comments/comments-overlay'
import { InlineEdits, useCovered } from './review-inline'
import { endOf, startOf, TOP } from './review-list'
import { useBlockOf } from './use-document'

/** Plugins that change how a block's text is drawn, such as marks on commented words. The list stays the same object
 * while nothing changes. */
export const useBlockMarks = useCommentMarks

/** In the right margin of a block (over its corner on a phone): the number of its open comments. */
export function BlockMargin({ blockId }: { blockId: string }) {
  const block = useBlockOf(blockId)
  if (block === null) return null
  return (
    <div className="block-comments">
      <CommentCount id={blockId} about={{ section_id: block.section_id, block_id: blockId, quote: null }} />
    </div>
  )
}

/** The same next to a section's heading: comments on the section as a whole. */
export function SectionMargin({ sectionId }: { sectionId: string }) {
  return (
    <div className="block-comments">
      <CommentCount id={sectionId} about={{ section_id: sectionId, block_id: null, quote: null }} />
    </div>
  )
}

/** Below a block: edits that are proposed for it, or after it. */
export const BlockBelow = ({ blockId }: { blockId: string }) => <InlineEdits place={blockId} />

/** True if a proposed edit shows the block's text in place of the block. */
export const useIsCovered = useCovered

/** Below a section's heading, before its blocks: edits that are proposed for the start of the section. */
export const SectionBelow = ({ sectionId }: { sectionId: string }) => <Between place={startOf(sectionId)} />

/** Behind a section's last block: new sections that are proposed after it. */
export const SectionEnd = ({ sectionId }: { sectionId: string }) => <Between place={endOf(sectionId)} />

/** Before the first section. */
export const DocumentStart = () => <Between place={TOP} />

const Between = ({ place }: { place: string }) => (
  <div className="review-slot">
    <InlineEdits place={place} />
  </div>
)

/** The bar over selected text. Drawn once per document, over its blocks. */
export function DocumentOverlay() {
  return <CommentsOverlay />
}
