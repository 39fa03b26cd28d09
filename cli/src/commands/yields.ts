import { openSession, type Speaker } from '../session.js'
import { addPaging, readPages, type PageOptions } from '../options.js'
import { formatPercent, formatTime } from '../terminal/text.js'
import { tellSilent } from './balances.js'
import type { Yields, YieldSnapshot } from '@steward/sdk'
import type { Command } from 'commander'
import type { Io } from '../terminal/io.js'
import type { Session } from '../session.js'

type Options = PageOptions & { history?: true; chain?: string; protocol?: string }

export function addYields(program: Command, io: Io): void {
  addPaging(program.command('yields'))
    .option('--history', 'what the markets paid, newest first')
    .option('--chain <chain>', 'only of this chain')
    .option('--protocol <protocol>', 'only of this protocol')
    .description('what markets pay for a loan (1 credit)')
    .action(async (options: Options, command: Command) => {
      const session = openSession(io, command)
      await (options.history ? tellHistory(session, options) : tellRates(session, options))
    })
}

const filterOf = ({ chain, protocol }: Options) => ({
  ...(chain !== undefined && { chain }),
  ...(protocol !== undefined && { protocol }),
})

async function tellRates({ steward, say }: Session, options: Options): Promise<void> {
  const yields = await steward.yields.list(filterOf(options))
  say.show(yields, () => rateLines(say, yields))
  for (const { chain, protocol, reason } of yields.disabled ?? []) {
    say.note(`! ${protocol} on ${chain} cannot be used now: ${reason}.`)
  }
  tellSilent(say, yields.unavailable)
}

function rateLines(say: Speaker, { rates, best }: Yields): string[] {
  if (rates.length === 0) return ['No market.']
  const ordered = [...rates].sort((one, other) => other.apy - one.apy)
  const lines = say.table(ordered, [
    { title: 'CHAIN', of: ({ chain }) => chain },
    { title: 'PROTOCOL', of: ({ protocol }) => protocol },
    { title: 'ASSET', of: ({ asset }) => asset },
    { title: 'APY', of: ({ apy }) => formatPercent(apy), isNumber: true },
  ])
  return best ? [...lines, best.reasoning] : lines
}

async function tellHistory({ steward, say }: Session, options: Options): Promise<void> {
  const page = await readPages<YieldSnapshot>(options, (asked) =>
    steward.yields.history({ ...filterOf(options), ...asked }),
  )
  say.show(page, () =>
    say.table(page.data, [
      { title: 'TAKEN', of: ({ takenAt }) => formatTime(takenAt) },
      { title: 'CHAIN', of: ({ chain }) => chain },
      { title: 'PROTOCOL', of: ({ protocol }) => protocol },
      { title: 'ASSET', of: ({ asset }) => asset },
      { title: 'APY', of: ({ apy }) => formatPercent(apy), isNumber: true },
    ]),
  )
}
