/** What a comment or question is on, in words. Pure. */
import type { Outline, Place } from './talks'

export function placeName(sections: readonly Pick<Outline, 'id' | 'heading'>[], { section_id }: Place): string {
  if (section_id === null) return 'The whole document'
  const section = sections.find(({ id }) => id === section_id)
  if (section === undefined) return 'A section that is gone'
  return section.heading === '' ? 'The beginning' : section.heading
}
