import { openSession, type Speaker } from '../session.js'
import { walletIdOf } from '../options.js'
import { formatPercent } from '../terminal/text.js'
import { warnUnavailable } from './balances.js'
import type { Positions } from '@steward/sdk'
import type { Command } from 'commander'
import type { Io } from '../terminal/io.js'

export function addPositions(program: Command, io: Io): void {
  program
    .command('positions')
    .argument('<wallet>', 'id of a wallet, or the userId of its owner')
    .option('--closed', 'include closed positions')
    .description('show the positions of a wallet and their earnings (1 credit)')
    .action(async (name: string, options: { closed?: true }, command: Command) => {
      const session = openSession(io, command)
      const { steward, say } = session
      const walletId = await walletIdOf(session, name)
      const positions = await steward.positions.get(walletId, options)
      say.show(positions, () => positionLines(say, positions))
      warnUnavailable(say, positions.unavailable)
    })
}

function positionLines(say: Speaker, { positions }: Positions): string[] {
  if (positions.length === 0) return ['No positions.']
  return say.table(positions, [
    { title: 'CHAIN', of: ({ chain }) => chain },
    { title: 'PROTOCOL', of: ({ protocol }) => protocol },
    { title: 'ASSET', of: ({ asset }) => asset },
    { title: 'VALUE', of: ({ currentValue }) => currentValue, isNumber: true },
    { title: 'DEPOSITED', of: ({ deposited }) => deposited, isNumber: true },
    { title: 'WITHDRAWN', of: ({ withdrawn }) => withdrawn, isNumber: true },
    { title: 'EARNED', of: ({ earned }) => earned, isNumber: true },
    { title: 'APY', of: ({ apy }) => formatPercent(apy), isNumber: true },
  ])
}
