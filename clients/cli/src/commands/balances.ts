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
    .description('show the balances of a wallet on every chain (1 credit)')
    .action(async (name: string, _options: object, command: Command) => {
      const session = openSession(io, command)
      const balances = await session.steward.balances.get(await walletIdOf(session, name))
      session.say.show(balances, () => balanceLines(session.say, balances, name))
      warnUnavailable(session.say, balances.unavailable)
    })
}

function balanceLines(say: Speaker, balances: Balances, wallet: string): string[] {
  const { chains, totalValueUsd } = balances
  const lent = lentLines(balances, wallet)
  const rows = chains.flatMap(({ chain, tokens }) => tokens.map((token) => ({ chain, ...token })))
  if (rows.length === 0) {
    const idle = lent.length > 0 ? 'No idle money.' : 'The wallet is empty.'
    return [...lent, `${idle} Get test money: steward fund ${wallet}`]
  }
  const lines = say.table(rows, [
    { title: 'CHAIN', of: ({ chain }) => chain },
    { title: 'ASSET', of: ({ asset }) => asset },
    { title: 'BALANCE', of: ({ balanceFormatted }) => balanceFormatted, isNumber: true },
    { title: 'USD', of: ({ valueUsd }) => formatUsd(valueUsd), isNumber: true },
  ])
  return [...lines, `Total ${formatUsd(totalValueUsd)}`, ...lent]
}

/** What is lent besides the balances, and the command that shows it. No line without lent money. */
function lentLines({ lentUsd }: Balances, wallet: string): string[] {
  if (lentUsd === 0) return []
  const value = lentUsd === null ? 'unknown' : formatUsd(lentUsd)
  return [`Lent ${value}. Show it: steward positions ${wallet}`]
}

/** Warns about chains without an answer: their balances are unknown, not zero. */
export function warnUnavailable(say: Speaker, unavailable: readonly string[] | undefined): void {
  if (unavailable && unavailable.length > 0)
    say.note(`! No answer from ${unavailable.join(', ')}: not included.`)
}
