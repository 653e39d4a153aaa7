import { ago, clockTime, countdown, fullTime } from '@/lib/format'
import { useMinutes, useSeconds } from '@/lib/time'

export function Ago({ iso, className }: { iso: string; className?: string }) {
  return (
    <time dateTime={iso} title={fullTime(iso)} className={className}>
      {ago(iso, useMinutes())}
    </time>
  )
}

export const ClockTime = ({ iso, className }: { iso: string; className?: string }) => (
  <time dateTime={iso} title={fullTime(iso)} className={className}>
    {clockTime(iso)}
  </time>
)

export function Countdown({ iso }: { iso: string }) {
  return <span className="tabular-nums">{countdown(iso, useSeconds())}</span>
}
