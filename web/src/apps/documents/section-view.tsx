import { memo, useMemo } from 'react'
import { useSelected } from '@outlast/sdk/react'
import { BlockRow } from './block-row'
import { SectionBelow, SectionEnd } from './block-slots'
import { useDocumentRoom } from './document-context'
import { useEditorSession, useNewIn } from './editor/use-editor-session'
import { HeadingRow } from './heading-row'
import { SectionLockNote } from './section-lock-note'
import { withNewRows } from './row-order'

interface SectionViewProps {
  sectionId: string
  /** Near the document's beginning: drawn at once. */
  first: boolean
}

const AT_ONCE = 12

/** A heading and its blocks. */
export const SectionView = memo(function SectionView({ sectionId, first }: SectionViewProps) {
  const { store } = useDocumentRoom()
  const session = useEditorSession()
  const level = useSelected(store, ({ content }) => content.sections[sectionId]?.level ?? null)
  const blocks = useSelected(store, ({ content }) => content.sections[sectionId]?.blocks ?? null)
  const fresh = useNewIn(sectionId)
  const rows = useMemo(
    () =>
      withNewRows(
        (blocks ?? []).map(store.keyOf),
        fresh.map((key) => ({ key, after: afterOf(session.status(key)?.place?.after ?? null, store.keyOf) })),
      ),
    [blocks, fresh, store, session],
  )
  if (level === null) return null
  return (
    <section data-section-id={sectionId} className="section-view">
      {level > 0 && <HeadingRow sectionId={sectionId} />}
      <SectionLockNote sectionId={sectionId} />
      <SectionBelow sectionId={sectionId} />
      {rows.map((key, at) => (
        <BlockRow key={key} rowKey={key} sectionId={sectionId} first={first && at < AT_ONCE} />
      ))}
      <SectionEnd sectionId={sectionId} />
    </section>
  )
})

const afterOf = (after: string | null, keyOf: (id: string) => string): string | null =>
  after === null ? null : keyOf(after)
