import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { OutlastError } from '@outlast/sdk'
import { Field, Input, Select } from '@/components/field'
import { useDebounced } from '@/lib/use-debounced'
import { timesQuery } from './schedules'
import { cronOf, REPEAT_LABELS, REPEATS, timeIn, WEEKDAYS, zonesWith, type When } from './when'

const DAYS_OF_ALL_MONTHS = Array.from({ length: 28 }, (_, index) => index + 1)

interface WhenFieldProps {
  when: When
  zone: string
  onWhen: (when: When) => void
  onZone: (zone: string) => void
}

/** When a schedule comes due: a common rhythm or a cron expression, a time zone, and what follows from them. */
export function WhenField({ when, zone, onWhen, onZone }: WhenFieldProps) {
  const [zones] = useState(() => zonesWith(zone))
  const put = (change: Partial<When>) => onWhen({ ...when, ...change })
  const { repeat } = when
  return (
    <fieldset className="space-y-3 rounded-xl border border-line p-3.5">
      <legend className="sr-only">When</legend>
      <Field label="When">
        <Select
          className="w-full"
          value={repeat}
          onChange={({ target }) => {
            const chosen = REPEATS.find((one) => one === target.value) ?? 'cron'
            // A custom expression begins with what was chosen before.
            put({ repeat: chosen, ...(chosen === 'cron' && { cron: cronOf(when) }) })
          }}
        >
          {REPEATS.map((one) => (
            <option key={one} value={one}>
              {REPEAT_LABELS[one]}
            </option>
          ))}
        </Select>
      </Field>
      <div className="grid grid-cols-2 gap-3">
        {repeat === 'week' && (
          <Field label="Day">
            <Select
              className="w-full"
              value={when.weekday}
              onChange={({ target }) => put({ weekday: Number(target.value) })}
            >
              {[1, 2, 3, 4, 5, 6, 0].map((day) => (
                <option key={day} value={day}>
                  {WEEKDAYS[day]}
                </option>
              ))}
            </Select>
          </Field>
        )}
        {repeat === 'month' && (
          <Field label="Day of the month">
            <Select className="w-full" value={when.day} onChange={({ target }) => put({ day: Number(target.value) })}>
              {[...new Set([...DAYS_OF_ALL_MONTHS, when.day])].map((day) => (
                <option key={day}>{day}</option>
              ))}
            </Select>
          </Field>
        )}
        {repeat !== 'hour' && repeat !== 'cron' && (
          <Field label="Time">
            <Input
              type="time"
              required
              value={when.time}
              onChange={({ target }) => target.value !== '' && put({ time: target.value.slice(0, 5) })}
            />
          </Field>
        )}
        {repeat === 'cron' && (
          <div className="order-last col-span-2">
            <Field label="Cron expression" hint="Minute, hour, day of the month, month, day of the week.">
              <Input
                required
                maxLength={200}
                spellCheck={false}
                autoCapitalize="off"
                className="font-mono"
                value={when.cron}
                onChange={({ target }) => put({ cron: target.value })}
              />
            </Field>
          </div>
        )}
        <div className={repeat === 'week' || repeat === 'month' || repeat === 'cron' ? 'col-span-2' : ''}>
          <Field label="Time zone">
            <Select className="w-full" value={zone} onChange={({ target }) => onZone(target.value)}>
              {zones.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </Select>
          </Field>
        </div>
      </div>
      <NextTimes cron={cronOf(when)} zone={zone} />
    </fieldset>
  )
}

function NextTimes({ cron, zone }: { cron: string; zone: string }) {
  const { data, error } = useQuery(timesQuery(useDebounced(cron.trim()), zone))
  const refusal = error instanceof OutlastError ? error : null
  return (
    <div aria-live="polite" data-next-times className="min-h-16 text-[12.5px]">
      {refusal !== null ? (
        <p className="text-danger">
          {refusal.message} <span className="text-muted">{refusal.hint}</span>
        </p>
      ) : (
        <>
          <p className="text-muted">Next runs</p>
          <ol className="mt-1 flex flex-wrap gap-1.5">
            {data?.next_times.map((iso) => (
              <li key={iso} className="rounded-md bg-active px-2 py-0.5 tabular-nums">
                <time dateTime={iso}>{timeIn(iso, zone)}</time>
              </li>
            ))}
          </ol>
        </>
      )}
    </div>
  )
}
