import { existsSync, readFileSync, rmSync } from 'node:fs'

/** Points at which a crash leaves work half done. */
export const faultPoints = [
  'api: before the commit',
  'api: before the answer',
  'worker: before the start',
  'workflow started, not marked',
  'activity: before the order',
  'activity: before its result',
  'activity: before the end is stored',
  'activity: before the wait is marked',
  'activity: before it returns unsettled',
  'worker: before the signal',
  'worker: signalled, still marked',
  'signer: claimed, not signed',
  'signer: before the commit',
  'signer: replacement before the commit',
  'relayer: before the broadcast',
  'relayer: after the broadcast',
  'relayer: before the indexing is committed',
  'attester: before the message is stored',
] as const
export type FaultPoint = (typeof faultPoints)[number]

/** A file that contains the name of the armed point. Only tests set it, and only the devnet reads it. */
const armed = process.env.NETWORK === 'devnet' ? process.env.FAULT_POINT_FILE : undefined

/** Kills this process with SIGKILL when a test has armed this point. Fires once. */
export function faultPoint(point: FaultPoint): void {
  if (!armed || !existsSync(armed) || readFileSync(armed, 'utf8') !== point) return
  rmSync(armed)
  process.kill(process.pid, 'SIGKILL')
}
