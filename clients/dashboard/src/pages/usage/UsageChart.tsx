import { dayText } from '../../text/time.js'
import { Chart } from '../../ui/charts/Chart.js'
import type { UseDay } from './days.js'

type Props = {
  /** Oldest first, without gaps. */
  days: readonly UseDay[]
  /** The selected day. */
  chosen: string | undefined
  onChoose: (day: string | undefined) => void
}

const DAY_MS = 86_400_000
const startOf = (day: string) => Date.parse(`${day}T00:00Z`)
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)
const valueText = (value: number) => value.toLocaleString()

/** Requests and credits per day. The user selects a day by click, or by arrow keys and Enter. */
export function UsageChart({ days, chosen, onChoose }: Props) {
  const shared = {
    ...({ form: 'bars', barMs: DAY_MS, zone: 'UTC', axes: 'full', valueText } as const),
    times: days.map(({ day }) => startOf(day)),
    timeText: (at: number) => `${dayText(dayOf(at))} (UTC)`,
    chosen: chosen === undefined ? undefined : startOf(chosen),
    onChoose: (at: number | undefined) => onChoose(at === undefined ? undefined : dayOf(at)),
  }
  const failed = days.map(({ errors }) => errors)
  const succeeded = days.map(({ requests, errors }) => requests - errors)
  return (
    <div className="space-y-4">
      <Chart
        label="Requests by day"
        height={180}
        {...shared}
        series={[
          { name: 'Failed', color: 'failed', values: failed },
          { name: 'Succeeded', color: 'accent', values: succeeded },
        ]}
      />
      <Chart
        label="Credits by day"
        height={112}
        {...shared}
        series={[{ name: 'Credits', color: 'quiet', values: days.map(({ credits }) => credits) }]}
      />
    </div>
  )
}
