import { durationText } from '../text/time.js'
import { usdText } from '../text/amount.js'
import { Id } from './values/Id.js'
import { StateSign, type StateName } from './feedback/State.js'
import { Elapsed, useNow } from './values/Time.js'

export type TimelineRow = {
  key: string
  state: StateName
  title: string
  place?: string | undefined
  /** Whether the row is a part of the row above. */
  isPart?: boolean
  /** ISO 8601. */
  startedAt?: string
  endedAt?: string
  /** The wait reason or the error. */
  note?: string
  since?: string
  usualMs?: number
  txHash?: string
  href?: string
  costUsd?: number | null
}

/** Steps with their durations as bars on a common scale, live while a step runs. */
export function Timeline({ rows }: { rows: TimelineRow[] }) {
  const now = useNow()
  const scale = scaleOf(rows, now)
  return (
    <ol className="relative">
      {rows.map((row, index) => (
        <li key={row.key} className={`relative flex gap-3 ${row.isPart ? 'pl-7' : ''}`}>
          {index < rows.length - 1 && (
            <span
              aria-hidden
              className={`absolute top-6 bottom-0 w-px bg-line ${row.isPart ? 'left-[35px]' : 'left-[7px]'}`}
            />
          )}
          <span className="relative mt-[3px] inline-flex size-4 items-center justify-center bg-canvas">
            <StateSign state={row.state} />
          </span>
          <RowBody row={row} bar={scale && barOf(row, scale, now)} now={now} />
        </li>
      ))}
    </ol>
  )
}

const words: Record<StateName, string> = {
  done: 'done',
  running: 'executing',
  waiting: 'waiting',
  failed: 'failed',
  stopped: 'not started',
  open: 'not yet',
}

type Bar = { left: number; width: number; usual?: number }

/** The height is constant in all states, so that the layout does not shift. */
function RowBody({ row, bar, now }: { row: TimelineRow; bar: Bar | undefined; now: number }) {
  const { state, title, place, startedAt, endedAt, txHash, href, costUsd } = row
  const end = endedAt ? Date.parse(endedAt) : now
  return (
    <div className={`min-w-0 flex-1 ${row.isPart ? 'min-h-12 pb-2' : 'min-h-16 pb-4'}`}>
      <div className="flex items-baseline justify-between gap-3">
        <p className={row.isPart ? 'text-sm' : 'font-medium'}>
          {title}
          {place && <span className="ml-2 text-xs font-normal text-ink-3">{place}</span>}
          <span className="sr-only">, {words[state]}</span>
        </p>
        <span className="shrink-0 text-xs text-ink-3">
          {startedAt && durationText(end - Date.parse(startedAt))}
        </span>
      </div>
      <Track bar={bar} row={row} />
      <Note row={row} />
      {txHash && (
        <p className="flex items-center gap-2 text-xs text-ink-3">
          <Id id={txHash} label="transaction hash" href={href} />
          {costUsd !== undefined && (
            <span>{costUsd === null ? 'gas of unknown cost' : `${usdText(costUsd)} of gas`}</span>
          )}
        </p>
      )}
    </div>
  )
}

function Note({ row: { note, since, usualMs, state } }: { row: TimelineRow }) {
  if (!note) return null
  const tone = state === 'failed' ? 'text-failed' : 'text-waiting'
  return (
    <p className={`mb-1 text-xs ${tone}`}>
      {note}
      {since && (
        <>
          {' For '}
          <Elapsed since={since} />
          {usualMs !== undefined && `; usually ${durationText(usualMs)}`}.
        </>
      )}
    </p>
  )
}

const fills: Record<StateName, string> = {
  done: 'fill-done',
  running: 'fill-running',
  waiting: 'fill-waiting',
  failed: 'fill-failed',
  stopped: 'fill-stopped',
  open: 'fill-line',
}

/** A bar on the common scale. It is an SVG, because the content security policy forbids style attributes. */
function Track({ bar, row }: { bar: Bar | undefined; row: TimelineRow }) {
  return (
    <svg
      aria-hidden
      className={`my-1.5 block h-1 overflow-hidden rounded-full ${row.isPart ? 'w-full' : 'ml-7 w-[calc(100%-1.75rem)]'}`}
    >
      <rect width="100%" height="4" className="fill-sunken" />
      {bar && (
        <rect
          x={`${bar.left}%`}
          width={`${bar.width}%`}
          height="4"
          rx="2"
          className={`${fills[row.state]} transition-all`}
        />
      )}
      {bar?.usual !== undefined && (
        <rect x={`${bar.usual}%`} width="2" height="4" className="fill-ink" />
      )}
    </svg>
  )
}

type Scale = { start: number; span: number }

/** From the first start to the last end, including the expected ends of running steps. */
function scaleOf(rows: TimelineRow[], now: number): Scale | undefined {
  const begun = rows.filter((row) => row.startedAt)
  if (begun.length === 0) return undefined
  const starts = begun.map(({ startedAt = '' }) => Date.parse(startedAt))
  const ends = begun.map((row) => Math.max(endOf(row, now), usualEndOf(row) ?? 0))
  const start = Math.min(...starts)
  return { start, span: Math.max(Math.max(...ends) - start, 1) }
}

const endOf = ({ endedAt }: TimelineRow, now: number) => (endedAt ? Date.parse(endedAt) : now)

const usualEndOf = ({ since, usualMs, endedAt }: TimelineRow) =>
  since && usualMs !== undefined && !endedAt ? Date.parse(since) + usualMs : undefined

const LEAST_PERCENT = 0.8

/** Position and width in percent of the scale. A bar has at least `LEAST_PERCENT`. */
function barOf(row: TimelineRow, { start, span }: Scale, now: number): Bar | undefined {
  if (!row.startedAt) return undefined
  const at = (moment: number) => ((moment - start) / span) * 100
  const left = at(Date.parse(row.startedAt))
  const width = Math.max(at(endOf(row, now)) - left, LEAST_PERCENT)
  const usual = usualEndOf(row)
  const mark = usual === undefined ? {} : { usual: Math.min(at(usual), 99.5) }
  return { left: Math.min(left, 100 - LEAST_PERCENT), width, ...mark }
}
