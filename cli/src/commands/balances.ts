import { openSession, type Speaker } from '../session.js'
import { walletIdOf } from '../options.js'
import { formatUsd } from '../terminal/text.js'
import type { Balances } from '@steward/sdk'
import type { Command } from 'commander'
import type { Io } from '../terminal/io.js'

export function addBalances(program: Command, io: Io): void {
  program
    .command('balances')
    .argument('<wallet>', 'id of a wallet, or the userId of its owner')
    .description('what a wallet holds on every chain (1 credit)')
    .action(async (name: string, _options: object, command: Command) => {
      const session = openSession(io, command)
      const balances = await session.steward.balances.get(await walletIdOf(session, name))
      session.say.show(balances, () => balanceLines(session.say, balances))
      tellSilent(session.say, balances.unavailable)
    })
}

function balanceLines(say: Speaker, { chains, totalValueUsd }: Balances): string[] {
  const rows = chains.flatMap(({ chain, tokens }) => tokens.map((token) => ({ chain, ...token })))
  if (rows.length === 0) return ['Nothing on any chain. Test money: steward fund <wallet>']
  const lines = say.table(rows, [
    { title: 'CHAIN', of: ({ chain }) => chain },
    { title: 'ASSET', of: ({ asset }) => asset },
    { title: 'BALANCE', of: ({ balanceFormatted }) => balanceFormatted, isNumber: true },
    { title: 'USD', of: ({ valueUsd }) => formatUsd(valueUsd), isNumber: true },
  ])
  return [...lines, `Together ${formatUsd(totalValueUsd)}`]
}

/** What does not answer is no zero. */
export function tellSilent(say: Speaker, silent: readonly string[] | undefined): void {
  if (silent && silent.length > 0) say.note(`! No answer from ${silent.join(', ')}: not counted.`)
}
