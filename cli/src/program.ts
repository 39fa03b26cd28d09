import { Command, CommanderError } from 'commander'
import { addBalances } from './commands/balances.js'
import { addCompletion } from './commands/completion.js'
import { addCredits } from './commands/credits.js'
import { addDoctor } from './commands/doctor.js'
import { addEvents } from './commands/events.js'
import { addFund } from './commands/fund.js'
import { addIntents } from './commands/intents.js'
import { addLogin } from './commands/login.js'
import { addPositions } from './commands/positions.js'
import { addTrigger } from './commands/trigger.js'
import { addWallets } from './commands/wallets.js'
import { addWebhooks } from './commands/webhooks.js'
import { addYields } from './commands/yields.js'
import { exitCodes, misused, type ExitCode } from './exit.js'
import { reportFailure } from './failure.js'
import { version } from './version.js'
import type { Io } from './terminal/io.js'

/** The commands in the order of `steward --help`: how one begins, what one does, what one looks at. */
const groups = [
  ...[addLogin, addDoctor],
  ...[addWallets, addBalances, addFund, addYields, addIntents, addPositions],
  ...[addEvents, addWebhooks, addTrigger, addCredits, addCompletion],
]

const EXITS = `
Exit codes:
  0    done; of an intent that is followed: completed
  1    the command cannot be understood or lacks something
  2    the API refused the call
  3    the intent failed or was cancelled
  4    the time of --timeout is over; the intent goes on
  5    the API does not answer, or has a fault
  130  interrupted; the intent goes on`

function createProgram(io: Io): Command {
  const program = new Command('steward')
    .description('Wallets, yields and intents of a Steward service.')
    .version(version, '-V, --version', 'tell the version')
    .helpOption('-h, --help', 'tell what a command does')
    .option('--json', 'results as JSON, streams as a line of JSON each')
    .option('--profile <name>', 'the key and the address of this login')
    .option('--base-url <url>', 'where the API is')
    .addHelpText('after', EXITS)
    .showHelpAfterError('Add --help to see how it is used.')
    .exitOverride()
    .configureOutput({ writeOut: io.out.write, writeErr: io.err.write })
  for (const add of groups) add(program, io)
  return program
}

/** Runs one command line, without the names of node and the script. */
export async function run(io: Io, args: string[]): Promise<ExitCode> {
  const isJson = args.includes('--json')
  try {
    refuseKeys(args)
    await createProgram(io).parseAsync(args, { from: 'user' })
    return exitCodes.done
  } catch (error) {
    if (error instanceof CommanderError) return commanderExit(error)
    return reportFailure(io, error, isJson)
  }
}

/** It has told already what it had to tell. */
const commanderExit = ({ exitCode }: CommanderError): ExitCode =>
  exitCode === 0 ? exitCodes.done : exitCodes.usage

/** What stands on a command line is in the history of the shell, and in the list of processes that others see. */
function refuseKeys(args: string[]): void {
  if (!args.some((arg) => /svc_sk_[0-9a-f]{8}/i.test(arg))) return
  throw misused(
    'An API key has no place on a command line: it is now in the history of your shell.',
    'Revoke that key in the dashboard and make another one.',
    'Then type it where nobody sees it: steward login, or pipe it: steward login --key-stdin',
  )
}
