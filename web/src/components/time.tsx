import { ago, clockTime, countdown, fullTime } from '@/lib/format'
import { useMinutes, useSeconds } from '@/lib/time'

export function Ago({ iso, className }: { iso: string; className?: string }) {
  return (
    <time dateTime={iso} title={fullTime(iso)} className={className}>
      {ago(iso, useMinutes())}
    </time>
  )
}

/** As `Ago`, inside a sentence: "just now", "5m ago", or the date. */
export function Since({ iso, className }: { iso: string; className?: string }) {
  const text = ago(iso, useMinutes())
  return (
    <time dateTime={iso} title={fullTime(iso)} className={className}>
      {text === 'now' ? 'just now' : /^\d+[mhd]$/.test(text) ? `${text} ago` : text}
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
