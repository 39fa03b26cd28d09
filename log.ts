import { pino, type DestinationStream, type Logger, type LoggerOptions } from 'pino'
import { ServiceError } from './domain/errors.js'

export type Log = Logger

type Report = (facts: object, message: string) => void
/** What the parts of a process report through. */
export type PartLog = { info: Report; warn: Report; error: Report }

/**
 * Lines are written together, and soon: a line of each request would cost a system call otherwise, and a
 * reader that is slow would hold up the service. A process that ends writes what is left.
 */
const GATHERED = { sync: false, minLength: 4_096, periodicFlush: 100 }

/**
 * A JSON logger on standard output, or on `destination`. Errors pass through an allow-list: name, code,
 * message and details of our own errors, and of foreign ones the name, code and place only, because node
 * and database clients put URLs with credentials into their messages.
 */
export function createLog(name: string, level: string, destination?: DestinationStream): Log {
  const options: LoggerOptions = { name, level, serializers: { err: describeError }, hooks }
  return pino(options, destination ?? pino.destination(GATHERED))
}

/** An error logged without words of ours would lend its message to the line. */
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

/** Where the error was made. Its message, which the stack begins with, may have lines like these. */
function framesOf({ stack, message }: Error): string[] | undefined {
  const frames = stack?.replace(message, '').split('\n')
  return frames
    ?.map((line) => line.trim())
    .filter((line) => line.startsWith('at '))
    .slice(0, 6)
}
