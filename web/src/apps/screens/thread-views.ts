/** Views of screens inside threads. */
import type { ThreadViews } from '@/lib/apps'
import { answerText, ScreenAnswer } from './chat/screen-answer'

export default {
  agents: {
    screen: {
      Answer: ScreenAnswer,
      answerText,
      workspace: {
        owner: 'screen',
        start: 'Restart from the template',
        lost: 'The screen loses everything built so far and starts with the files of its template.',
        done: 'This screen restarted from its template.',
      },
    },
  },
} satisfies ThreadViews
