import { linePath } from './layout.js'

const WIDTH = 96
const HEIGHT = 24

type Props = {
  label: string
  /** At least two. Null is a gap. */
  values: readonly (number | null)[]
}

/** A small line chart without axes, from the lowest to the highest value. */
export function Sparkline({ label, values }: Props) {
  const known = values.filter((value) => value !== null)
  const low = Math.min(...known)
  const span = Math.max(...known) - low
  const path = linePath(values, {
    xOf: (index) => (index / (values.length - 1)) * WIDTH,
    yOf: (value) => (span === 0 ? HEIGHT / 2 : HEIGHT - ((value - low) / span) * HEIGHT),
  })
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`-1 -2 ${WIDTH + 2} ${HEIGHT + 4}`}
      preserveAspectRatio="xMinYMid"
      className="h-6 w-24"
    >
      <path
        d={path}
        className="fill-none stroke-accent"
        strokeWidth="1.5"
        strokeLinejoin="round"
        strokeLinecap="round"
      />
    </svg>
  )
}
