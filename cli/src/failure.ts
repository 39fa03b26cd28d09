import { StewardError } from '@steward/sdk'
import { CommandError, exitCodes, type ExitCode } from './exit.js'
import { signs, type Io } from './terminal/io.js'
import { plain, toJson } from './terminal/text.js'

/** What a failed command tells. */
type Failure = {
  exitCode: ExitCode
  code: string
  message: string
  /** What to do, a sentence a line. */
  hints: readonly string[]
  requestId?: string | undefined
  details?: object
}

/** Tells why a command has failed: lines for people, with `--json` one line of JSON. Both to stderr. */
export function reportFailure(io: Io, error: unknown, isJson: boolean): ExitCode {
  const failure = io.interrupted.aborted ? interrupted(error) : describe(error)
  const { exitCode, code, message, hints, requestId, details } = failure
  if (message === '') return exitCode
  if (isJson) {
    const told = { error: code, message, hints, requestId, details, exitCode }
    io.err.write(`${toJson(told)}\n`)
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

function interrupted(error: unknown): Failure {
  const { hints, message } = error instanceof CommandError ? error : { hints: [], message: '' }
  return { exitCode: exitCodes.interrupted, code: 'INTERRUPTED', message, hints }
}

function describe(error: unknown): Failure {
  if (error instanceof CommandError) {
    const { exitCode, message, hints } = error
    return { exitCode, code: 'COMMAND', message, hints }
  }
  if (error instanceof StewardError) return describeAnswer(error)
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { exitCode: exitCodes.unreachable, code: 'UNFORESEEN', message, hints: [] }
}

function describeAnswer(error: StewardError): Failure {
  const { code, status, message, requestId, details } = error
  const isRefusal = status !== undefined && status < 500 && status !== 408
  const text = status === undefined ? message : `${code}: ${message}`
  return {
    ...{ code, requestId, details, message: text },
    exitCode: isRefusal ? exitCodes.refused : exitCodes.unreachable,
    hints: [...hintsFor(error), ...docsOf(error)],
  }
}

/** What a person at a terminal can do about it. */
const hints: Record<string, string> = {
  UNAUTHORIZED: 'Log in with a valid key: steward login',
  FORBIDDEN: 'This needs a key with the scope write, of an account that is not suspended.',
  INSUFFICIENT_CREDITS: 'What is left and used: steward credits',
  WALLET_NOT_FOUND: 'Wallets there are: steward wallets list',
  INTENT_NOT_FOUND: 'Intents there are: steward intents list',
  CONNECTION: 'Is the address right, and does the service run? steward doctor',
  TIMEOUT: 'The service is slow to answer. steward doctor looks why.',
  INVALID_ANSWER: 'Something else answers there. Check the base URL: steward doctor',
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
    // The answer is lost, the call perhaps not.
    ...(isUnsure
      ? [
          `It may have been done. The same command does it once: --idempotency-key ${idempotencyKey}`,
        ]
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
    ...onItsWay.map(({ chain, asset, amount }) => `${amount} ${asset} on its way to ${chain}`),
  ]
}

const docsOf = ({ details: { docs } }: StewardError): string[] =>
  typeof docs === 'string' && docs.startsWith('/') ? [`What it means: ${docs} of the service`] : []
