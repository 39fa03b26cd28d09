import { useEffect, useRef } from 'react'
import UPlot from 'uplot'
import { exactText } from '../../text/time.js'

type ChartLine = { name: string; values: (number | null)[] }
type Props = {
  /** Unix seconds. */
  times: number[]
  lines: ChartLine[]
  unit: string
}

const HEIGHT = 300

/** Distinct in both themes and with red-green colour blindness. */
const hues = [
  '--color-accent',
  '--color-waiting',
  '--color-done',
  '--color-failed',
  '--color-ink-3',
]

/** Lines over time. Pointing at a time shows all its values. Gaps stay visible. */
export function Chart({ times, lines, unit }: Props) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = box.current
    if (!element) return
    const draw = () => {
      element.replaceChildren()
      return new UPlot(
        optionsOf(element, lines, unit),
        [times, ...lines.map((l) => l.values)],
        element,
      )
    }
    let plot = draw()
    const resize = new ResizeObserver(() => {
      plot.setSize({ width: element.clientWidth, height: HEIGHT })
    })
    resize.observe(element)
    // A canvas must be redrawn when the theme changes.
    const repaint = () => {
      plot.destroy()
      plot = draw()
    }
    const theme = new MutationObserver(repaint)
    theme.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    const system = matchMedia('(prefers-color-scheme: dark)')
    system.addEventListener('change', repaint)
    return () => {
      resize.disconnect()
      theme.disconnect()
      system.removeEventListener('change', repaint)
      plot.destroy()
    }
  }, [times, lines, unit])
  return <div ref={box} className="chart min-h-96 w-full text-sm" />
}

function optionsOf(element: HTMLElement, lines: ChartLine[], unit: string): UPlot.Options {
  const ink = colorOf(element, '--color-ink-3')
  const grid = { stroke: colorOf(element, '--color-line'), width: 1 }
  const font = '12px system-ui'
  const valueText = (value: number | null) => (value === null ? '–' : `${value.toFixed(2)} ${unit}`)
  return {
    width: element.clientWidth,
    height: HEIGHT,
    cursor: { drag: { setScale: false } },
    axes: [
      {
        ...{ stroke: ink, font, grid: { show: false }, ticks: { show: false }, space: 80 },
        values: (_, all) => all.map((moment) => tickText(moment, all)),
      },
      {
        stroke: ink,
        font,
        grid,
        ticks: { show: false },
        size: 56,
        values: (_, all) => all.map((v) => `${v} ${unit}`),
      },
    ],
    series: [
      {
        label: 'Time',
        value: (_, moment: number | null) =>
          moment === null ? '–' : exactText(new Date(moment * 1_000)),
      },
      ...lines.map(({ name }, index) => ({
        label: name,
        stroke: colorOf(element, hues[index % hues.length] ?? ''),
        width: 1.75,
        points: { show: false },
        dash: index >= hues.length ? [4, 3] : [],
        value: (_: UPlot, value: number | null) => valueText(value),
      })),
    ],
  }
}

const DAY_SECONDS = 86_400

/** The day on an axis longer than a day, otherwise the time. */
function tickText(moment: number, all: number[]): string {
  const at = new Date(moment * 1_000)
  const isLong = (all.at(-1) ?? 0) - (all[0] ?? 0) > DAY_SECONDS
  return isLong
    ? at.toLocaleDateString(undefined, { day: 'numeric', month: 'short' })
    : at.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })
}

/** The computed colour of a CSS variable in the current theme, for the canvas. */
function colorOf(element: HTMLElement, token: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${token})`
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
