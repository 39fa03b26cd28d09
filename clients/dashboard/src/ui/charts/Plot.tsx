import { fill, stroke } from './colors.js'
import { linePath, stackOf, type Layout } from './layout.js'
import type { ChartData } from './chartData.js'

type Props = ChartData & {
  layout: Layout
  width: number
  height: number
  cursor: number | undefined
  chosen: number | undefined
}

/** The picture of a chart: grid, labels, series, cursor and selected time. */
export function Plot({ layout, width, height, cursor, chosen, ...data }: Props) {
  const chosenIndex = chosen === undefined ? -1 : data.times.indexOf(chosen)
  return (
    <svg aria-hidden width={width} height={height} className="block">
      {chosenIndex >= 0 && (
        <Column {...{ layout, data }} index={chosenIndex} look="fill-accent-soft" />
      )}
      <Grid {...{ layout, data }} />
      {cursor !== undefined && data.form === 'bars' && (
        <Column {...{ layout, data }} index={cursor} look="fill-hover" />
      )}
      {data.form === 'bars' ? (
        <Bars {...{ layout, data }} />
      ) : (
        <Lines {...{ layout, data, cursor }} />
      )}
    </svg>
  )
}

type Drawn = { layout: Layout; data: ChartData }

function Grid({ layout, data }: Drawn) {
  const { left, right, bottom, values, times, yOf, xAt } = layout
  return (
    <g className="fill-ink-3 text-[11px]">
      {values.length === 0 && (
        <path d={`M${left} ${bottom + 0.5}H${right}`} className="stroke-line" />
      )}
      {values.map((value) => {
        const y = Math.round(yOf(value)) + 0.5
        return (
          <g key={value}>
            <path d={`M${left} ${y}H${right}`} className="stroke-line" />
            <text x={left - 8} y={y + 4} textAnchor="end">
              {(data.tickText ?? data.valueText)(value)}
            </text>
          </g>
        )
      })}
      {times.map(({ at, text }) => (
        <text key={at} x={xAt(at)} y={bottom + 17} textAnchor={anchorOf(xAt(at), layout)}>
          {text}
        </text>
      ))}
    </g>
  )
}

/** Half the width of a time label. The last label is not centred where it would be cut. */
const HALF = 24
const MARGIN = 8

const anchorOf = (x: number, { right }: Layout) => (x + HALF > right + MARGIN ? 'end' : 'middle')

/** The background of a time. */
function Column({ layout, data, index, look }: Drawn & { index: number; look: string }) {
  const { left, right, top, bottom, xOf } = layout
  const width = (right - left) / Math.max(1, data.times.length)
  return (
    <rect
      x={xOf(index) - width / 2}
      y={top}
      {...{ width }}
      height={bottom - top}
      className={look}
    />
  )
}

function Bars({ layout: { xOf, yOf, bottom, barWidth }, data: { series, times } }: Drawn) {
  return series.map(({ name, color, values }, place) => (
    <g key={name} className={fill[color]}>
      {times.map((at, index) => {
        const value = values[index] ?? 0
        if (value <= 0) return null
        const base = yOf(stackOf(series, index, place))
        // A positive value is visible.
        const y = Math.min(yOf(stackOf(series, index, place + 1)), base - 1.5)
        const x = xOf(index) - barWidth / 2
        return (
          <rect
            key={at}
            {...{ x, y }}
            width={barWidth}
            height={Math.min(base, bottom) - y}
            rx={Math.min(2, barWidth / 4)}
          />
        )
      })}
    </g>
  ))
}

/** Whether a line connects the value with the one before or after it. */
const hasNeighbour = (values: readonly (number | null)[], index: number) =>
  typeof values[index - 1] === 'number' || typeof values[index + 1] === 'number'

function Lines({ layout, data: { series }, cursor }: Drawn & { cursor: number | undefined }) {
  const { xOf, yOf, top, bottom } = layout
  return (
    <>
      {cursor !== undefined && (
        <path
          d={`M${Math.round(xOf(cursor)) + 0.5} ${top}V${bottom}`}
          className="stroke-line-strong"
        />
      )}
      {series.map(({ name, color, isDashed, values }) => (
        <path
          key={name}
          d={linePath(values, layout)}
          className={`fill-none ${stroke[color]}`}
          strokeWidth="1.75"
          strokeLinejoin="round"
          strokeLinecap="round"
          strokeDasharray={isDashed ? '5 4' : undefined}
        />
      ))}
      {series.map(({ name, color, values }) =>
        values.map((value, index) =>
          value === null || hasNeighbour(values, index) ? null : (
            <circle
              key={`${name} ${index}`}
              cx={xOf(index)}
              cy={yOf(value)}
              r="2.5"
              className={fill[color]}
            />
          ),
        ),
      )}
      {cursor !== undefined &&
        series.map(({ name, color, values }) => {
          const value = values[cursor]
          if (value === null || value === undefined) return null
          return (
            <circle key={name} cx={xOf(cursor)} cy={yOf(value)} r="3" className={fill[color]} />
          )
        })}
    </>
  )
}
