import type { Session } from '../api/types.js'

const looks: Record<Session['environment'], string> = {
  devnet: 'bg-accent-soft text-accent',
  testnet: 'bg-waiting-soft text-waiting',
  mainnet: 'bg-done-soft text-done',
}

/** Badge with the environment: whether the money is real. */
export function Environment({ environment }: Pick<Session, 'environment'>) {
  return (
    <span
      className={`inline-flex h-5 shrink-0 items-center rounded-sm px-1.5 text-xs font-medium ${looks[environment]}`}
    >
      {environment}
    </span>
  )
}
