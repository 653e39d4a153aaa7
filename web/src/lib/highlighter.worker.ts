/** The worker that colours code: a long block takes seconds on a slow machine. */
import { answerOn } from './syntax-colours'
import { colour } from './highlighter'

answerOn(self as unknown as Worker, colour)
