const labels = { '24h': '24 h', '7d': '7 d', '30d': '30 d', '90d': '90 d' }
export type RangeName = keyof typeof labels

const spans: Record<RangeName, string> = {
  ...{ '24h': '24 hours', '7d': '7 days', '30d': '30 days', '90d': '90 days' },
}

/** `7 days`, for a sentence such as "Last 7 days". */
export const spanText = (range: RangeName) => spans[range]

type Props<Name> = { ranges: readonly Name[]; value: Name; onChange: (range: Name) => void }

/** A choice of the range of a chart. One is always selected. */
export function Ranges<Name extends RangeName>({ ranges, value, onChange }: Props<Name>) {
  return (
    <div role="group" aria-label="Range" className="flex rounded-md border border-line p-0.5">
      {ranges.map((range) => (
        <button
          key={range}
          type="button"
          title={`Last ${spans[range]}`}
          aria-pressed={range === value}
          className="h-6 rounded-sm px-2 text-xs font-medium text-ink-2 transition-colors hover:text-ink aria-pressed:bg-accent-soft aria-pressed:text-accent"
          onClick={() => onChange(range)}
        >
          {labels[range]}
        </button>
      ))}
    </div>
  )
}
