import { createLog, type Log } from '../../runtime/log.js'

/** `lines`: all that was written so far, a line of JSON each. */
export type HeardLog = { log: Log; lines: string[] }

/** A log that is read instead of printed. */
export function createHeardLog(name: string, level = 'debug'): HeardLog {
  const lines: string[] = []
  return { lines, log: createLog(name, level, { write: (line) => void lines.push(line) }) }
}

/** One that nobody reads. */
export const createQuietLog = (name: string): Log => createHeardLog(name, 'silent').log
