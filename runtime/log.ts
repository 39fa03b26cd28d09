import { pino, type DestinationStream, type Logger, type LoggerOptions } from 'pino'
import { ServiceError } from '../domain/errors.js'

export type Log = Logger

type LogMethod = (facts: object, message: string) => void
/** The subset of the log that components use. */
export type PartLog = { info: LogMethod; warn: LogMethod; error: LogMethod }

/**
 * Buffers lines for at most 100 ms. This saves a system call per request, and a slow reader does not block the service.
 * A process flushes the buffer when it ends.
 */
const BUFFERED = { sync: false, minLength: 4_096, periodicFlush: 100 }

/**
 * Creates a JSON logger on standard output, or on `destination`. Errors pass through an allow-list: name, code, message
 * and details of a ServiceError; only name, code and stack frames of foreign errors, because RPC and database clients
 * put URLs with credentials into their messages.
 */
export function createLog(name: string, level: string, destination?: DestinationStream): Log {
  const options: LoggerOptions = { name, level, serializers: { err: describeError }, hooks }
  return pino(options, destination ?? pino.destination(BUFFERED))
}

/** Sets a message for errors logged without one. Otherwise pino would log the message of the error. */
const hooks: NonNullable<LoggerOptions['hooks']> = {
  logMethod([first, ...rest], method) {
    const facts: unknown = first instanceof Error ? { err: first } : first
    const isSilent = typeof facts === 'object' && rest.length === 0
    method.apply(this, [facts, ...(isSilent ? ['error'] : rest)] as Parameters<typeof method>)
  },
}

function describeError(error: unknown): unknown {
  if (error instanceof ServiceError) {
    const { code, message, details, cause } = error
    const reason = cause === undefined ? {} : { cause: describeError(cause) }
    return { name: 'ServiceError', code, message, details, ...reason }
  }
  if (error instanceof Error) {
    const { code } = error as { code?: unknown }
    return { name: error.name, ...(isPlain(code) ? { code } : {}), at: framesOf(error) }
  }
  return typeof error
}

const isPlain = (code: unknown) => typeof code === 'string' || typeof code === 'number'

/** Stack frames of the error. Removes its message first, because that may contain similar lines. */
function framesOf({ stack, message }: Error): string[] | undefined {
  const frames = stack?.replace(message, '').split('\n')
  return frames
    ?.map((line) => line.trim())
    .filter((line) => line.startsWith('at '))
    .slice(0, 6)
}
