/** Cron expressions as people choose and read them. Pure. */

export const REPEATS = ['hour', 'day', 'weekday', 'week', 'month', 'cron'] as const
export type Repeat = (typeof REPEATS)[number]

export const REPEAT_LABELS: Readonly<Record<Repeat, string>> = {
  hour: 'Every hour',
  day: 'Every day',
  weekday: 'Every weekday, Monday to Friday',
  week: 'Every week',
  month: 'Every month',
  cron: 'Custom (cron expression)',
}

/** When a schedule comes due. The fields that its `repeat` does not use keep what a person chose before. */
export interface When {
  repeat: Repeat
  /** "08:30". */
  time: string
  /** 0 is Sunday. */
  weekday: number
  /** Of the month. */
  day: number
  /** The expression of `cron`. */
  cron: string
}

export const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const

const WEEKDAY_MORNINGS: When = { repeat: 'weekday', time: '08:00', weekday: 1, day: 1, cron: '0 8 * * 1-5' }

/** The cron expression of a choice. */
export function cronOf({ repeat, time, weekday, day, cron }: When): string {
  const [hour, minute] = time.split(':').map(Number)
  switch (repeat) {
    case 'hour':
      return `${minute} * * * *`
    case 'day':
      return `${minute} ${hour} * * *`
    case 'weekday':
      return `${minute} ${hour} * * 1-5`
    case 'week':
      return `${minute} ${hour} * * ${weekday}`
    case 'month':
      return `${minute} ${hour} ${day} * *`
    case 'cron':
      return cron
  }
}

const COMMON = /^(\d{1,2}) (\d{1,2}|\*) (\d{1,2}|\*) \* (\*|[0-7]|1-5|[a-z]{3}(?:-fri)?)$/
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

/** The choice that a cron expression stands for; `cron` for one that has no simpler form. */
export function whenOf(cron: string): When {
  const custom: When = { ...WEEKDAY_MORNINGS, repeat: 'cron', cron }
  const found = COMMON.exec(cron.toLowerCase())
  if (found === null) return custom
  const [, minute = '', hour = '', day = '', weekday = ''] = found
  const time = `${(hour === '*' ? '8' : hour).padStart(2, '0')}:${minute.padStart(2, '0')}`
  const at: When = { ...custom, time }
  if (hour === '*') return day === '*' && weekday === '*' ? { ...at, repeat: 'hour' } : custom
  if (day !== '*') return weekday === '*' ? { ...at, repeat: 'month', day: Number(day) } : custom
  if (weekday === '*') return { ...at, repeat: 'day' }
  if (weekday === '1-5' || weekday === 'mon-fri') return { ...at, repeat: 'weekday' }
  const number = /^\d$/.test(weekday) ? Number(weekday) % 7 : DAYS.indexOf(weekday)
  return number < 0 ? custom : { ...at, repeat: 'week', weekday: number }
}

export const firstChoice = (): When => WEEKDAY_MORNINGS

/** In words: "Every weekday at 08:00"; the expression itself if it has no simpler form. */
export function describe(cron: string): string {
  const { repeat, time, weekday, day } = whenOf(cron)
  const [, minute = '00'] = time.split(':')
  switch (repeat) {
    case 'hour':
      return minute === '00' ? 'Every hour' : `Every hour, ${Number(minute)} min past`
    case 'day':
      return `Every day at ${time}`
    case 'weekday':
      return `Every weekday at ${time}`
    case 'week':
      return `Every ${WEEKDAYS[weekday]} at ${time}`
    case 'month':
      return `On day ${day} of every month at ${time}`
    case 'cron':
      return cron === '* * * * *' ? 'Every minute' : (everyMinutes(cron) ?? cron)
  }
}

const everyMinutes = (cron: string): string | null => {
  const found = /^\*\/(\d+) \* \* \* \*$/.exec(cron)
  return found === null ? null : `Every ${found[1]} minutes`
}

/** The browser's time zone. */
export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'

/** Names of time zones to choose from, `chosen` among them. */
export function zonesWith(chosen: string): string[] {
  return [...new Set([chosen, ownZone(), 'UTC', ...Intl.supportedValuesOf('timeZone')])].sort()
}

/** A due time as the clocks of a zone show it: "Mon, Jan 5, 08:00". */
export const timeIn = (iso: string, zone: string): string =>
  new Intl.DateTimeFormat([], {
    weekday: 'short',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: zone,
  }).format(new Date(iso))
