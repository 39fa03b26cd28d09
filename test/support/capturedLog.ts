import { createLog, type Log } from '../../runtime/log.js'

/** `lines`: everything written so far, a line of JSON each. */
export type CapturedLog = { log: Log; lines: string[] }

/** A log that tests read. */
export function createCapturedLog(name: string, level = 'debug'): CapturedLog {
  const lines: string[] = []
  return { lines, log: createLog(name, level, { write: (line) => void lines.push(line) }) }
}

/** A log that discards its lines. */
export const createQuietLog = (name: string): Log => createCapturedLog(name, 'silent').log
