/** The part that a comment or question is about, in words. Pure. */
import type { Outline, Place } from './comment-threads'

export function placeName(sections: readonly Pick<Outline, 'id' | 'heading'>[], { section_id }: Place): string {
  if (section_id === null) return 'Whole document'
  const section = sections.find(({ id }) => id === section_id)
  if (section === undefined) return 'Deleted section'
  return section.heading === '' ? 'Beginning' : section.heading
}
