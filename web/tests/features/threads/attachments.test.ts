import { expect, it } from 'vitest'
import { refusal } from '@/features/threads/attachments'

const LIMITS = { attachment_bytes: 100, image_bytes: 10, images_per_message: 1, files_per_message: 2 }
const file = (name: string, size: number, type = '') => new File([new Uint8Array(size)], name, { type })
const image = (size: number) => file('a.png', size, 'image/png')

it('takes files of any kind up to the limits', () => {
  expect(refusal(file('a.bin', 100), LIMITS, [])).toBeNull()
  expect(refusal(image(10), LIMITS, [file('a', 1), file('b', 1)])).toBeNull()
})

it('says why a file cannot be attached', () => {
  expect(refusal(file('folder', 0), LIMITS, [])).toContain('is empty')
  expect(refusal(file('a.bin', 101), LIMITS, [])).toContain('The limit is 100')
  expect(refusal(image(1), LIMITS, [image(1)])).toBe('A message can have at most 1 images.')
  expect(refusal(file('c', 1), LIMITS, [file('a', 1), file('b', 1)])).toBe('A message can have at most 2 other files.')
})

it('counts an image that models cannot be given as a file', () => {
  expect(refusal(image(11), LIMITS, [image(1)])).toBeNull()
})
