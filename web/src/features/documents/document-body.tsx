import { memo } from 'react'
import type { BlockData, SectionData } from '@outlast/sdk'
import { Markdown } from '@/components/markdown'
import { BlockBelow, BlockMargin, SectionBelow, useBlockMarks } from './block-slots'
import { useSections } from './use-document'

/** The text: sections, each with its blocks. */
export function DocumentBody() {
  const sections = useSections()
  return (
    <article className="mx-auto w-full max-w-3xl px-6 pt-10 pb-[40vh]">
      {sections.map((section) => (
        <Section key={section.id} section={section} />
      ))}
    </article>
  )
}

const Section = memo(function Section({ section }: { section: SectionData }) {
  return (
    <section data-section-id={section.id}>
      {section.level > 0 && <h2>{section.heading}</h2>}
      <SectionBelow sectionId={section.id} />
      {section.blocks.map((block) => (
        <Block key={block.id} block={block} />
      ))}
    </section>
  )
})

const Block = memo(function Block({ block }: { block: BlockData }) {
  const marks = useBlockMarks(block.id)
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
