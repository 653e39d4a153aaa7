import { memo } from 'react'
import { Markdown } from '@/components/markdown'
import { BlockBelow, BlockMargin, SectionBelow, useBlockMarks } from './block-slots'
import { useBlockOf, useOrder, useSectionOf } from './use-document'

/** The text: sections, each with its blocks. */
export function DocumentBody() {
  return (
    <article className="mx-auto w-full max-w-3xl px-6 pt-10 pb-[40vh]">
      {useOrder().map((id) => (
        <Section key={id} sectionId={id} />
      ))}
    </article>
  )
}

const Section = memo(function Section({ sectionId }: { sectionId: string }) {
  const section = useSectionOf(sectionId)
  if (section === null) return null
  return (
    <section data-section-id={section.id}>
      {section.level > 0 && <h2>{section.heading}</h2>}
      <SectionBelow sectionId={section.id} />
      {section.blocks.map((id) => (
        <Block key={id} blockId={id} />
      ))}
    </section>
  )
})

const Block = memo(function Block({ blockId }: { blockId: string }) {
  const block = useBlockOf(blockId)
  const marks = useBlockMarks(blockId)
  if (block === null) return null
  return (
    <div data-block-id={block.id} className="relative">
      <div data-block-text>
        <Markdown text={block.markdown} rehype={marks} />
      </div>
      <BlockMargin blockId={block.id} />
      <BlockBelow blockId={block.id} />
    </div>
  )
})
