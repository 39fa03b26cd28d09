import { existsSync, readFileSync, rmSync } from 'node:fs'

/** Moments at which a process leaves something half done when it dies. */
export const crashPoints = [
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
  'signer: taken, not signed',
  'signer: before the commit',
  'signer: replacement before the commit',
  'driver: before the broadcast',
  'driver: after the broadcast',
  'driver: before the booking is committed',
  'attester: before the message is stored',
] as const
export type CrashPoint = (typeof crashPoints)[number]

/** A file with the name of the one moment that is armed. Tests name it, on the devnet only: elsewhere nothing is read. */
const armed = process.env.NETWORK === 'devnet' ? process.env.CRASH_POINT_FILE : undefined

/** Ends this process as `kill -9` does if a test has armed this moment; once. */
export function crashPoint(point: CrashPoint): void {
  if (!armed || !existsSync(armed) || readFileSync(armed, 'utf8') !== point) return
  rmSync(armed)
  process.kill(process.pid, 'SIGKILL')
}
