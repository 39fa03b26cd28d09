type Props = { path: string; label: string }

/** A line without axes: only where it goes. */
export function Sparkline({ path, label }: Props) {
  return (
    <svg role="img" aria-label={label} viewBox="-1 -2 98 28" className="h-6 w-24">
      <path d={path} className="fill-none stroke-accent" strokeWidth="1.5" strokeLinejoin="round" />
    </svg>
  )
}
