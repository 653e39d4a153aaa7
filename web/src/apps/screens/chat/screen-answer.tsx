import { readAnswers, type Message, type Part, type ReadAnswer } from '@outlast/sdk'
import { Markdown } from '@/components/markdown'
import type { AnswerProps } from '@/lib/apps'
import { PartView } from '@/features/threads/message-parts'
import { AnswerFiles } from './answer-files'
import { sectionsOf } from './work-summary'
import { WorkGroup } from './work-group'

/** An answer of the screen agent: without its markers, with the work folded and its files in one list. */
export function ScreenAnswer({ parts, pending, live }: AnswerProps) {
  const read = readParts(parts, live)
  const sections = sectionsOf(parts, (part) => part.type !== 'text' || (read.get(part.id)?.text ?? '') !== '')
  const files = [...read.values()].flatMap((answer) => answer.files)
  return (
    <>
      {sections.map((section, at) => {
        const growing = live && at === sections.length - 1
        if (section.kind === 'work')
          return <WorkGroup key={section.id} parts={section.parts} pending={pending} growing={growing} />
        const { part } = section
        if (part.type === 'text') return <Markdown key={part.id} text={read.get(part.id)?.text ?? ''} />
        return <PartView key={part.id} part={part} pending={undefined} growing={growing} />
      })}
      {!live && files.length > 0 && <AnswerFiles files={files} />}
    </>
  )
}

/** The texts by the id of their part; a text grows only while it is the last part. */
function readParts(parts: readonly Part[], live: boolean): Map<string, ReadAnswer> {
  const texts = parts.filter((part) => part.type === 'text')
  const growing = live && parts.at(-1)?.type === 'text'
  const read = readAnswers(
    texts.map(({ text }) => text),
    growing,
  )
  return new Map(texts.flatMap(({ id }, at) => (read[at] === undefined ? [] : [[id, read[at]]])))
}

/** The Markdown of an answer without its markers. */
export const answerText = ({ parts }: Message): string =>
  readAnswers(parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])))
    .flatMap(({ text }) => (text === '' ? [] : [text]))
    .join('\n\n')
