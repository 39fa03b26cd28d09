import { pino, type Logger } from 'pino'
import { ServiceError } from './domain/errors.js'

export type Log = Logger

/**
 * A JSON logger on standard output. Errors pass through an allow-list: name, code, message and stack of
 * our own errors, and of foreign ones the name and code only, because node and database clients put
 * URLs with credentials into their messages.
 */
export function createLog(name: string, level: string): Log {
  return pino({ name, level, serializers: { err: describeError } })
}

function describeError(error: unknown): unknown {
  if (error instanceof ServiceError) {
    const { code, message, details } = error
    return { name: 'ServiceError', code, message, details, cause: describeError(error.cause) }
  }
  if (error instanceof Error) {
    const frames = error.stack?.split('\n').filter((line) => line.trimStart().startsWith('at '))
    const { code } = error as { code?: unknown }
    return { name: error.name, code, at: frames?.slice(0, 6).map((line) => line.trim()) }
  }
  return typeof error
}
