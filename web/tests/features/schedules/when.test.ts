import { expect, test } from 'vitest'
import { cronOf, describe as describeCron, firstChoice, timeIn, whenOf, zonesWith } from '@/features/schedules/when'

const COMMON: [cron: string, repeat: string, words: string][] = [
  ['0 * * * *', 'hour', 'Every hour'],
  ['15 * * * *', 'hour', 'Every hour, 15 min past'],
  ['5 9 * * *', 'day', 'Every day at 09:05'],
  ['0 8 * * 1-5', 'weekday', 'Every weekday at 08:00'],
  ['30 17 * * 5', 'week', 'Every Friday at 17:30'],
  ['0 0 1 * *', 'month', 'On day 1 of every month at 00:00'],
]

test.each(COMMON)('%s is a common rhythm and is written in the same form', (cron, repeat, words) => {
  expect(whenOf(cron).repeat).toBe(repeat)
  expect(cronOf(whenOf(cron))).toBe(cron)
  expect(describeCron(cron)).toBe(words)
})

test.each([
  ['0 8 * * MON', 'Every Monday at 08:00'],
  ['0 8 * * 7', 'Every Sunday at 08:00'],
  ['0 8 * * mon-fri', 'Every weekday at 08:00'],
])('%s is understood', (cron, words) => expect(describeCron(cron)).toBe(words))

test.each(['0 8 1 * 5', '0 8-10 * * *', '0 8 * 6 *', '0 8 * * 1,3', '0 8 * * xyz', 'nonsense'])(
  '%s stays a cron expression',
  (cron) => {
    expect(whenOf(cron)).toMatchObject({ repeat: 'cron', cron })
    expect(cronOf(whenOf(cron))).toBe(cron)
    expect(describeCron(cron)).toBe(cron)
  },
)

test('frequent expressions are said in words', () => {
  expect(describeCron('* * * * *')).toBe('Every minute')
  expect(describeCron('*/10 * * * *')).toBe('Every 10 minutes')
})

test('a new schedule begins with weekday mornings', () => expect(cronOf(firstChoice())).toBe('0 8 * * 1-5'))

test('times are those of the zone', () => {
  expect(timeIn('2030-01-01T12:00:00.000Z', 'Asia/Tokyo')).toMatch(/0?9:00|21:00/)
  expect(zonesWith('Mars/Olympus')).toContain('Mars/Olympus')
})
