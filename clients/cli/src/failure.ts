import { StewardError } from '@steward/sdk'
import { inCommands } from './apiTexts.js'
import { CommandError, exitCodes, misused, type ExitCode } from './exit.js'
import { signs, type Io } from './terminal/io.js'
import { plain, toJson } from './terminal/text.js'

/** What is printed for a failed command. */
type CommandFailure = {
  exitCode: ExitCode
  code: string
  message: string
  /** What to do, one sentence per line. */
  hints: readonly string[]
  requestId?: string | undefined
  details?: object
}

/** Prints why a command failed to stderr: lines of text, or one line of JSON with `--json`. */
export function reportFailure(io: Io, error: unknown, { isJson }: { isJson: boolean }): ExitCode {
  const failure = io.interrupted.aborted ? interrupted(error) : describe(error, io.host ?? '')
  const { exitCode, code, message, hints, requestId, details } = failure
  if (message === '') return exitCode
  if (isJson) {
    const report = { error: code, message, hints, requestId, details, exitCode }
    io.err.write(`${toJson(report)}\n`)
    return exitCode
  }
  const { red, dim } = io.err.paint
  const [head = '', ...rest] = message.split('\n')
  io.err.write(`${red(signs.failed)} ${plain(head)}\n`)
  for (const line of rest) io.err.write(`  ${plain(line)}\n`)
  for (const hint of hints) io.err.write(`  ${plain(hint)}\n`)
  if (requestId) io.err.write(`  ${dim(`Request ${plain(requestId)}`)}\n`)
  return exitCode
}

function interrupted(error: unknown): CommandFailure {
  const { hints, message } = error instanceof CommandError ? error : { hints: [], message: '' }
  return { exitCode: exitCodes.interrupted, code: 'INTERRUPTED', message, hints }
}

function describe(error: unknown, host: string): CommandFailure {
  if (error instanceof CommandError) {
    const { exitCode, message, hints } = error
    return { exitCode, code: 'COMMAND', message, hints }
  }
  if (error instanceof StewardError) {
    return error.code === 'INVALID_ID'
      ? describe(misused(error.message), host)
      : describeAnswer(error, host)
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { exitCode: exitCodes.unreachable, code: 'UNFORESEEN', message, hints: [] }
}

function describeAnswer(error: StewardError, host: string): CommandFailure {
  const { code, status, requestId, details } = error
  const message = inCommands(error.message, host)
  const isRefusal = status !== undefined && status < 500 && status !== 408
  const text = status === undefined ? message : `${code}: ${message}`
  return {
    ...{ code, requestId, details, message: text },
    exitCode: isRefusal ? exitCodes.refused : exitCodes.unreachable,
    hints: [...hintsFor(error), ...docsOf(error, host)],
  }
}

/** What the user can do, by error code. */
const hints: Record<string, string> = {
  UNAUTHORIZED: 'Log in with a valid key: steward login',
  FORBIDDEN: 'Use a key with the scope write, of an account that is not suspended.',
  INSUFFICIENT_CREDITS: 'Show the credits left and used: steward credits',
  WALLET_NOT_FOUND: 'List the wallets: steward wallets list',
  INTENT_NOT_FOUND: 'List the intents: steward intents list',
  CONNECTION: 'Check the address and the service: steward doctor',
  TIMEOUT: 'The service is slow. Find out why: steward doctor',
  INVALID_ANSWER: 'The server is not a Steward service. Check the base URL: steward doctor',
}

function hintsFor(error: StewardError): string[] {
  const { code, retryAfter, idempotencyKey } = error
  const own = hints[code]
  const isUnsure =
    idempotencyKey !== undefined && (error.status === undefined || error.status >= 500)
  return [
    ...(own ? [own] : []),
    ...(code === 'INSUFFICIENT_FUNDS' ? fundsHints(error) : []),
    ...(retryAfter !== undefined ? [`Try again in ${Math.ceil(retryAfter)} s.`] : []),
    // The response is lost, but the call may have succeeded.
    ...(isUnsure
      ? [`The call may have succeeded. Repeat it safely with --idempotency-key ${idempotencyKey}`]
      : []),
  ]
}

type FundsDetails = {
  funds?: { chain: string; asset: string; amount: string }[]
  onItsWay?: { amount: string; asset: string; chain: string }[]
}

function fundsHints({ details }: StewardError): string[] {
  const { funds = [], onItsWay = [] } = details as FundsDetails
  const held = funds.filter(({ amount }) => Number(amount) > 0)
  return [
    ...held.map(({ chain, asset, amount }) => `${amount} ${asset} on ${chain}`),
    ...onItsWay.map(({ chain, asset, amount }) => `${amount} ${asset} in transit to ${chain}`),
  ]
}

const docsOf = ({ details: { docs } }: StewardError, host: string): string[] =>
  typeof docs === 'string' && docs.startsWith('/') ? [`Documentation: ${host}${docs}`] : []
