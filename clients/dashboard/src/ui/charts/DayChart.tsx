import { useId, type KeyboardEvent } from 'react'
import { dayText } from '../../text/time.js'

export type Day = { day: string; requests: number; errors: number; credits: number }

type Props = {
  /** Oldest first, without gaps. */
  days: readonly Day[]
  /** The selected day. */
  chosen: string | undefined
  onChoose: (day: string | undefined) => void
}

const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 }

/** Requests, errors and credits per day. The user selects a day by click or arrow keys. */
export function DayChart({ days, chosen, onChoose }: Props) {
  const name = useId()
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = steps[event.key]
    if (step === undefined) return
    event.preventDefault()
    const buttons = [...event.currentTarget.querySelectorAll('button')]
    const at = buttons.findIndex((button) => button === document.activeElement)
    buttons[at + step]?.focus()
  }
  const most = {
    requests: Math.max(1, ...days.map(({ requests }) => requests)),
    credits: Math.max(1, ...days.map(({ credits }) => credits)),
  }
  const inTabOrder = chosen ?? days.at(-1)?.day
  return (
    <div>
      <div className="mb-1 flex flex-wrap items-baseline justify-between gap-x-4 text-xs text-ink-2">
        <span id={name}>
          Requests, at most {most.requests.toLocaleString()} a day; credits, at most{' '}
          {most.credits.toLocaleString()}
        </span>
        <Legend />
      </div>
      <div role="group" aria-labelledby={name} className="flex h-44" onKeyDown={onKeyDown}>
        {days.map((day) => (
          <button
            key={day.day}
            type="button"
            tabIndex={day.day === inTabOrder ? 0 : -1}
            aria-label={describeDay(day)}
            aria-pressed={day.day === chosen}
            title={describeDay(day)}
            className="flex h-full min-w-0 flex-1 flex-col hover:bg-hover aria-pressed:bg-accent-soft"
            onClick={() => onChoose(day.day === chosen ? undefined : day.day)}
          >
            <Bars day={day} most={most} />
          </button>
        ))}
      </div>
      <div aria-hidden className="mt-1 flex justify-between text-xs text-ink-2">
        <span>{days[0] && dayText(days[0].day)}</span>
        <span>{chosen ? dayText(chosen) : ''}</span>
        <span>{days.at(-1) && dayText(days.at(-1)?.day ?? '')}</span>
      </div>
    </div>
  )
}

const describeDay = ({ day, requests, errors, credits }: Day) =>
  `${dayText(day)}: ${requests.toLocaleString()} requests, ${errors.toLocaleString()} failed, ${credits.toLocaleString()} credits`

type Most = { requests: number; credits: number }

/** Height of a bar in a box of 100 units. A positive value has at least 2 units. */
const height = (value: number, most: number) => (value === 0 ? 0 : Math.max(2, (value / most) * 96))

function Bars({ day: { requests, errors, credits }, most }: { day: Day; most: Most }) {
  const all = height(requests, most.requests)
  const bad = Math.min(all, height(errors, most.requests))
  return (
    <>
      <Bar className="min-h-0 flex-2 border-b border-line">
        <rect y={100 - all} height={all - bad} x="1" width="8" className="fill-accent" />
        <rect y={100 - bad} height={bad} x="1" width="8" className="fill-failed" />
      </Bar>
      <Bar className="min-h-0 flex-1 border-b border-line pt-1">
        <rect
          y={100 - height(credits, most.credits)}
          height={height(credits, most.credits)}
          x="1"
          width="8"
          className="fill-ink-3"
        />
      </Bar>
    </>
  )
}

function Bar({ className, children }: { className: string; children: React.ReactNode }) {
  return (
    <svg
      aria-hidden
      viewBox="0 0 10 100"
      preserveAspectRatio="none"
      className={`block w-full ${className}`}
    >
      {children}
    </svg>
  )
}

function Legend() {
  const entries = [
    ['bg-accent', 'Requests'],
    ['bg-failed', 'Failed'],
    ['bg-ink-3', 'Credits'],
  ] as const
  return (
    <span aria-hidden className="flex gap-3">
      {entries.map(([color, word]) => (
        <span key={word} className="inline-flex items-center gap-1.5">
          <span className={`size-2 rounded-sm ${color}`} />
          {word}
        </span>
      ))}
    </span>
  )
}
