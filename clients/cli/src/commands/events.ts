import { eventLine } from '../intents/follow.js'
import { openSession } from '../session.js'
import { parseCount, parseNames, walletIdOf } from '../options.js'
import { tailEvents } from '../webhooks/tail.js'
import { exitCodes, CommandError } from '../exit.js'
import type { Command } from 'commander'
import type { Io } from '../terminal/io.js'

type TailOptions = {
  type?: string[]
  wallet?: string
  intent?: string
  after?: string
  limit?: number
}

export function addEvents(program: Command, io: Io): void {
  program
    .command('events')
    .description('Events of the account.')
    .command('tail')
    .option('--type <types>', 'only these types, comma-separated', parseNames)
    .option('--wallet <wallet>', 'only this wallet, by its id or the userId of its owner')
    .option('--intent <intentId>', 'only this intent')
    .option('--after <eventId>', 'start after this event; evt_0 starts with the first one')
    .option('--limit <count>', 'stop after this many events', parseCount)
    .description('print events live until Ctrl-C; with --json one line per event')
    .action(async (options: TailOptions, command: Command) => {
      const session = openSession(io, command)
      const { type, wallet, intent, after, limit = Infinity } = options
      const filter = {
        ...(type && { type }),
        ...(wallet !== undefined && { walletId: await walletIdOf(session, wallet) }),
        ...(intent !== undefined && { intentId: intent }),
        ...(after !== undefined && { after }),
      }
      let count = 0
      await tailEvents(session, filter, (event) => {
        session.say.next(event, () => [eventLine(event, event.intentId ?? event.walletId)])
        count += 1
        return count < limit
      })
      if (io.interrupted.aborted) throw new CommandError(exitCodes.interrupted, '')
    })
}
