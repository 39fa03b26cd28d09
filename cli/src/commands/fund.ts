import { FundingFailedError, TimeoutError } from '@steward/sdk'
import { CommandError, exitCodes } from '../exit.js'
import { openSession, type Session } from '../session.js'
import { addKeyOption, parseDuration, walletIdOf, type WriteOptions } from '../options.js'
import { signs } from '../terminal/io.js'
import type { Funding } from '@steward/sdk'
import type { Command } from 'commander'
import type { Io } from '../terminal/io.js'

type Options = WriteOptions & { detach?: true; timeout?: number }

const TIMEOUT_MS = 120_000

export function addFund(program: Command, io: Io): void {
  addKeyOption(program.command('fund'))
    .argument('<wallet>', 'id of a wallet, or the userId of its owner')
    .option('--detach', 'do not wait until the money is there')
    .option('--timeout <time>', 'wait no longer, such as 90s', parseDuration)
    .description('send 1 USDC of test money to a wallet, and wait until it is there')
    .action(async (name: string, options: Options, command: Command) => {
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
 * The funding when its money is in the wallet.
 *
 * @throws {CommandError} when it takes longer than `timeoutMs`, or is interrupted; the money comes all the same.
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
    const message = `The test money is still on its way (${id}).`
    throw new CommandError(exitCode, message, ['What has come: steward balances <wallet>'])
  }
}

function describeFunding({ status, amount, asset, chain, walletId, id, txHash }: Funding): string {
  const what = `${amount} ${asset} on ${chain}`
  if (status === 'completed')
    return `${signs.done} ${what} for ${walletId} ${txHash ?? ''}`.trimEnd()
  return `${signs.waiting} ${what} for ${walletId}: ${status} (${id})`
}

const failed = ({ error, id }: Funding) =>
  new CommandError(exitCodes.failed, `${error?.message ?? 'It was not sent.'} (${id})`, [
    'Ask for it again: steward fund <wallet>',
  ])
