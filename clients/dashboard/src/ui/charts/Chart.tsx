import { useRef, useState, type KeyboardEvent, type MouseEvent } from 'react'
import { describe, Ends, Legend } from './Legend.js'
import { layoutOf, nearest } from './layout.js'
import { Plot } from './Plot.js'
import { useWidth } from './useWidth.js'
import type { ChartData } from './chartData.js'

type Props = ChartData & {
  label: string
  /** Pixels. */
  height: number
  /** `full` has both axes and a legend. `ends` has a line with the first and the last time, or the values at the cursor. */
  axes: 'full' | 'ends'
  /** The selected time, for a chart whose times can be selected by click or Enter. */
  chosen?: number | undefined
  onChoose?: (at: number | undefined) => void
}

/** Values over time. The pointer, or the arrow keys, move a cursor that shows the values of a time. */
export function Chart({ label, height, axes, chosen, onChoose, ...data }: Props) {
  const [cursor, setCursor] = useState<number>()
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  const layout = layoutOf(data, { width, height, axes })
  const last = data.times.length - 1
  const shown = Math.min(cursor ?? last, last)
  const choose = (index: number | undefined) => {
    const at = index === undefined ? undefined : data.times[index]
    if (onChoose && at !== undefined) onChoose(at === chosen ? undefined : at)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const next = afterKey(event.key, shown, last)
    if (next !== undefined) setCursor(next)
    else if (onChoose && (event.key === 'Enter' || event.key === ' ')) choose(shown)
    else return
    event.preventDefault()
  }
  const indexAt = ({ clientX, currentTarget }: MouseEvent) =>
    nearest(data, layout, clientX - currentTarget.getBoundingClientRect().left)
  return (
    <div className="min-w-0">
      {axes === 'full' && <Legend {...data} index={shown} />}
      <div
        ref={box}
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={shown}
        aria-valuetext={describe(data, shown)}
        className={`touch-pan-y rounded-sm ${onChoose ? 'cursor-pointer' : ''}`}
        style={{ height }}
        onKeyDown={onKeyDown}
        onBlur={() => setCursor(undefined)}
        onPointerMove={(event) => setCursor(indexAt(event))}
        onPointerLeave={() => setCursor(undefined)}
        onClick={(event) => choose(indexAt(event))}
      >
        {width > 0 && <Plot {...data} {...{ layout, width, height, cursor, chosen }} />}
      </div>
      {axes === 'ends' && <Ends {...data} index={cursor} />}
    </div>
  )
}

/** The index of a cursor after a key, or undefined for another key. */
function afterKey(key: string, index: number, last: number): number | undefined {
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return Math.max(0, index - 1)
    case 'ArrowRight':
    case 'ArrowUp':
      return Math.min(last, index + 1)
    case 'Home':
      return 0
    case 'End':
      return last
    default:
      return undefined
  }
}
