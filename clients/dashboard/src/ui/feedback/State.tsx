import { Ban, Check, CircleDashed, Clock, LoaderCircle, X, type LucideIcon } from 'lucide-react'

export type StateName = 'done' | 'running' | 'waiting' | 'failed' | 'stopped' | 'open'

type Face = { icon: LucideIcon; text: string; spins?: boolean }

/** A state has a colour and a shape, so that it is readable without colours. */
const faces: Record<StateName, Face> = {
  done: { icon: Check, text: 'text-done' },
  running: { icon: LoaderCircle, text: 'text-running', spins: true },
  waiting: { icon: Clock, text: 'text-waiting' },
  failed: { icon: X, text: 'text-failed' },
  stopped: { icon: Ban, text: 'text-stopped' },
  open: { icon: CircleDashed, text: 'text-ink-3' },
}

/** The icon of a state without its label. */
export function StateSign({ state }: { state: StateName }) {
  const { icon: Icon, text, spins } = faces[state]
  const motion = spins ? 'motion-safe:animate-spin [animation-duration:1.6s]' : ''
  return <Icon aria-hidden className={`size-3.5 shrink-0 ${text} ${motion}`} strokeWidth={2.5} />
}

/** A state as an icon with its label. */
export function State({ state, children }: { state: StateName; children: string }) {
  const { text } = faces[state]
  return (
    <span
      className={`inline-flex items-center gap-1.5 align-middle whitespace-nowrap text-sm font-medium ${text}`}
    >
      <StateSign state={state} />
      {children}
    </span>
  )
}
