import { expect, it } from 'vitest'
import type { Message } from '@outlast/sdk'
import { hasArrived, unsavedMessage } from '@/features/threads/outgoing-message'

const outgoing = { content: 'A pricing page', images: [], model: null }
const saved = (id: string, position: number, text: string, role: Message['role'] = 'user'): Message => ({
  ...unsavedMessage('thr_1', outgoing, 0),
  id,
  position,
  role,
  parts: [{ type: 'text', id: 'prt_1', step: 0, text }],
})

it('a message is shown once, also where the stream brings it before the request is answered', () => {
  const sending = unsavedMessage('thr_1', outgoing, 4)
  expect(hasArrived(sending, [saved('msg_4', 4, 'A pricing page')]), 'the same words, said earlier').toBe(false)
  expect(hasArrived(sending, [saved('msg_5', 5, 'Something else')])).toBe(false)
  expect(hasArrived(sending, [saved('msg_5', 5, 'A pricing page', 'assistant')])).toBe(false)
  expect(hasArrived(sending, [saved('msg_5', 5, 'A pricing page')])).toBe(true)
})

it('once the request is answered, a message goes by its id alone', () => {
  const sending = { ...unsavedMessage('thr_1', outgoing, 4), id: 'msg_6' }
  expect(hasArrived(sending, [saved('msg_5', 5, 'A pricing page')])).toBe(false)
  expect(hasArrived(sending, [saved('msg_6', 6, 'A pricing page')])).toBe(true)
})
