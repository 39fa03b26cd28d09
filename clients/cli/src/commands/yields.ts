import { openSession, type Speaker } from '../session.js'
import { addPaging, readPages, type PageOptions } from '../options.js'
import { formatPercent, formatTime } from '../terminal/text.js'
import { warnUnavailable } from './balances.js'
import type { Yields, YieldSnapshot } from '@steward/sdk'
import type { Command } from 'commander'
import type { Io } from '../terminal/io.js'
import type { Session } from '../session.js'

type YieldOptions = PageOptions & { history?: true; chain?: string; protocol?: string }

export function addYields(program: Command, io: Io): void {
  addPaging(program.command('yields'))
    .option('--history', 'show past rates, newest first')
    .option('--chain <chain>', 'only this chain')
    .option('--protocol <protocol>', 'only this protocol')
    .description('show the lending rates (1 credit)')
    .action(async (options: YieldOptions, command: Command) => {
      const session = openSession(io, command)
      await (options.history ? showHistory(session, options) : showRates(session, options))
    })
}

const filterOf = ({ chain, protocol }: YieldOptions) => ({
  ...(chain !== undefined && { chain }),
  ...(protocol !== undefined && { protocol }),
})

async function showRates({ steward, say }: Session, options: YieldOptions): Promise<void> {
  const yields = await steward.yields.list(filterOf(options))
  say.show(yields, () => rateLines(say, yields))
  for (const { chain, protocol, reason } of yields.disabled ?? []) {
    say.note(`! ${protocol} on ${chain} is disabled: ${reason}.`)
  }
  warnUnavailable(say, yields.unavailable)
}

function rateLines(say: Speaker, { rates, best }: Yields): string[] {
  if (rates.length === 0) return ['No market matches.']
  const ordered = [...rates].sort((one, other) => other.apy - one.apy)
  const lines = say.table(ordered, [
    { title: 'CHAIN', of: ({ chain }) => chain },
    { title: 'PROTOCOL', of: ({ protocol }) => protocol },
    { title: 'ASSET', of: ({ asset }) => asset },
    { title: 'APY', of: ({ apy }) => formatPercent(apy), isNumber: true },
  ])
  return best ? [...lines, best.reasoning] : lines
}

async function showHistory({ steward, say }: Session, options: YieldOptions): Promise<void> {
  const page = await readPages<YieldSnapshot>(options, (pageParams) =>
    steward.yields.history({ ...filterOf(options), ...pageParams }),
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
