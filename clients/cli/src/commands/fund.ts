import { FundingFailedError, TimeoutError } from '@steward/sdk'
import { CommandError, exitCodes } from '../exit.js'
import { openSession, type Session } from '../session.js'
import { addKeyOption, parseDuration, walletIdOf, type IdempotencyOptions } from '../options.js'
import { signs } from '../terminal/io.js'
import type { Funding } from '@steward/sdk'
import type { Command } from 'commander'
import type { Io } from '../terminal/io.js'

type FundOptions = IdempotencyOptions & { detach?: true; timeout?: number }

const TIMEOUT_MS = 120_000

export function addFund(program: Command, io: Io): void {
  addKeyOption(program.command('fund'))
    .argument('<wallet>', 'id of a wallet, or the userId of its owner')
    .option('--detach', 'return at once, without waiting for the money')
    .option('--timeout <time>', 'wait at most this long, such as 90s', parseDuration)
    .description('send 1 test USDC to a wallet and wait until it arrives')
    .action(async (name: string, options: FundOptions, command: Command) => {
      const session = openSession(io, command)
      const { steward, say } = session
      const { idempotencyKey, detach, timeout } = options
      const walletId = await walletIdOf(session, name)
      const key = { ...(idempotencyKey && { idempotencyKey }) }
      const begun = await steward.demo.fund(walletId, key)
      const funding = detach ? begun : await awaitFunding(session, begun, timeout)
      say.show(funding, () => [describeFunding(funding)])
      if (funding.status === 'failed') throw failed(funding)
    })
}

/**
 * The funding once its money is in the wallet, or once it has failed.
 *
 * @throws {CommandError} after `timeoutMs` or an interruption. The funding continues.
 */
export async function awaitFunding(
  { steward, io }: Session,
  { id }: Funding,
  timeoutMs = TIMEOUT_MS,
): Promise<Funding> {
  try {
    return await steward.demo.waitForCompletion(id, { signal: io.interrupted, timeoutMs })
  } catch (error) {
    if (error instanceof FundingFailedError) return error.funding
    const isLate = error instanceof TimeoutError
    if (!isLate && !io.interrupted.aborted) throw error
    const exitCode = isLate ? exitCodes.timeout : exitCodes.interrupted
    const message = `The test money has not arrived yet (${id}).`
    throw new CommandError(exitCode, message, ['Show the balances: steward balances <wallet>'])
  }
}

function describeFunding({ status, amount, asset, chain, walletId, id, txHash }: Funding): string {
  const what = `${amount} ${asset} on ${chain}`
  if (status === 'completed')
    return `${signs.done} ${what} for ${walletId} ${txHash ?? ''}`.trimEnd()
  return `${signs.waiting} ${what} for ${walletId}: ${status} (${id})`
}

const failed = ({ error, id }: Funding) =>
  new CommandError(
    exitCodes.failed,
    `${error?.message ?? 'The test money was not sent.'} (${id})`,
    ['Try again: steward fund <wallet>'],
  )
