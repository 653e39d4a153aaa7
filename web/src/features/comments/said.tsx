import type { Mentionable } from './mention-text'
import { mentionPieces } from './mention-text'

/** What a person wrote, exactly as typed; those whom it names stand out. */
export const Said = ({ text, people }: { text: string; people: readonly Mentionable[] }) => (
  <div className="leading-5 whitespace-pre-wrap [overflow-wrap:anywhere]">
    {mentionPieces(text, people).map((piece, at) =>
      piece.who === null ? (
        piece.text
      ) : (
        <span key={at} data-mention={piece.who} className="rounded-sm bg-accent-soft px-0.5 font-medium text-link">
          {piece.text}
        </span>
      ),
    )}
  </div>
)
