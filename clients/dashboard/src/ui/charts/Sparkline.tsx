type Props = { path: string; label: string }

/** A small line chart without axes. */
export function Sparkline({ path, label }: Props) {
  return (
    <svg role="img" aria-label={label} viewBox="-1 -2 98 28" className="h-6 w-24">
      <path d={path} className="fill-none stroke-accent" strokeWidth="1.5" strokeLinejoin="round" />
    </svg>
  )
}
