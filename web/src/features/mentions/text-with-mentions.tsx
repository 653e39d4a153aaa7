import type { Mentionable } from './mention-text'
import { mentionPieces } from './mention-text'

interface NamedProps {
  text: string
  people: readonly Mentionable[]
}

/** A text exactly as typed, with its mentions highlighted. */
export const Named = ({ text, people }: NamedProps) =>
  mentionPieces(text, people).map((piece, at) =>
    piece.who === null ? (
      piece.text
    ) : (
      <span key={at} data-mention={piece.who} className="rounded-sm bg-accent-soft px-0.5 font-medium text-link">
        {piece.text}
      </span>
    ),
  )

/** The text of a person's comment. */
export const TextWithMentions = (props: NamedProps) => (
  <div className="leading-5 whitespace-pre-wrap [overflow-wrap:anywhere]">
    <Named {...props} />
  </div>
)
