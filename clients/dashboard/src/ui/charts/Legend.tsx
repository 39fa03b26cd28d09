import { fill, stroke } from './colors.js'
import type { ChartData, ChartSeries } from './chartData.js'

type AtIndex = ChartData & { index: number | undefined }

const textOf = ({ valueText }: ChartData, value: number | null | undefined) =>
  value === null || value === undefined ? '–' : valueText(value)

/** All values of a time in words, as a screen reader speaks them. */
export function describe(data: ChartData, index: number): string {
  const values = data.series.map(({ name, values }) =>
    [name, textOf(data, values[index])].filter(Boolean).join(' '),
  )
  return `${data.timeText(data.times[index] ?? 0)}: ${values.join(', ')}`
}

/** The series with their values at the cursor, or at the last time. */
export function Legend({ index = 0, ...data }: AtIndex) {
  return (
    <div aria-hidden className="mb-2 flex flex-wrap gap-x-6 gap-y-1 text-xs text-ink-2">
      <span className="min-w-28 text-ink-3 max-sm:w-full">
        {data.timeText(data.times[index] ?? 0)}
      </span>
      {data.series.map((series) => (
        <span key={series.name} className="inline-flex items-center gap-1.5">
          <Swatch form={data.form} {...series} />
          {series.name}
          <span className="min-w-10 font-medium text-ink">
            {textOf(data, series.values[index])}
          </span>
        </span>
      ))}
    </div>
  )
}

function Swatch({
  form,
  color,
  isDashed,
}: Pick<ChartSeries, 'color' | 'isDashed'> & Pick<ChartData, 'form'>) {
  return (
    <svg viewBox="0 0 14 8" className="h-2 w-3.5 shrink-0">
      {form === 'bars' ? (
        <rect x="3" width="8" height="8" rx="2" className={fill[color]} />
      ) : (
        <path
          d="M0 4h14"
          className={stroke[color]}
          strokeWidth="2"
          strokeDasharray={isDashed ? '4 3' : undefined}
        />
      )}
    </svg>
  )
}

/** The first and the last time, or the values at the cursor. */
export function Ends({ index, ...data }: AtIndex) {
  const { times, timeText } = data
  return (
    <div
      aria-hidden
      className="mt-1 flex h-5 justify-between gap-2 overflow-hidden text-xs whitespace-nowrap text-ink-3"
    >
      {index === undefined ? (
        <>
          <span>{timeText(times[0] ?? 0)}</span>
          <span>{timeText(times.at(-1) ?? 0)}</span>
        </>
      ) : (
        <span className="truncate text-ink-2">{describe(data, index)}</span>
      )}
    </div>
  )
}
