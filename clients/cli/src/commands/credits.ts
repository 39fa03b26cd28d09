import { openSession } from '../session.js'
import type { Command } from 'commander'
import type { Io } from '../terminal/io.js'

export function addCredits(program: Command, io: Io): void {
  program
    .command('credits')
    .description('show the credits of the account')
    .action(async (_options: object, command: Command) => {
      const { steward, say } = openSession(io, command)
      const { balance, totalUsed, totalPurchased, plan } = await steward.credits.get()
      say.show({ balance, totalPurchased, totalUsed, plan }, () =>
        say.facts([
          ['left', balance.toLocaleString('en')],
          ['used', totalUsed.toLocaleString('en')],
          ['bought', totalPurchased.toLocaleString('en')],
          ['plan', plan],
        ]),
      )
    })
}
