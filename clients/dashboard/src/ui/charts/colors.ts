/** Colours of series. They are distinct in both themes and with red-green colour blindness. */

export type ChartColor = 'accent' | 'waiting' | 'done' | 'failed' | 'quiet'

export const colors: ChartColor[] = ['accent', 'waiting', 'done', 'failed', 'quiet']

export const stroke: Record<ChartColor, string> = {
  accent: 'stroke-accent',
  waiting: 'stroke-waiting',
  done: 'stroke-done',
  failed: 'stroke-failed',
  quiet: 'stroke-ink-3',
}

export const fill: Record<ChartColor, string> = {
  accent: 'fill-accent',
  waiting: 'fill-waiting',
  done: 'fill-done',
  failed: 'fill-failed',
  quiet: 'fill-ink-3',
}
