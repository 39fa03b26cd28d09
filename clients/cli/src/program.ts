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
import { suggestCommands } from './suggest.js'
import { version } from './version.js'
import type { Io } from './terminal/io.js'

/** The commands in the order of `steward --help`. */
const groups = [
  ...[addLogin, addDoctor],
  ...[addWallets, addBalances, addFund, addYields, addIntents, addPositions],
  ...[addEvents, addWebhooks, addTrigger, addCredits, addCompletion],
]

const EXITS = `
Exit codes:
  0    success; a followed intent has completed
  1    invalid command line or missing option
  2    the API rejected the call
  3    the intent failed or was cancelled
  4    --timeout expired; the intent continues
  5    the API does not answer or returned a server error
  130  interrupted; the intent continues`

export function createProgram(io: Io): Command {
  const program = new Command('steward')
    .description('Wallets, yields and intents of a Steward service.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print the help of a command')
    .option('--json', 'print results as JSON, and streams as one line of JSON per event')
    .option('--profile <name>', 'use the key and the address of this login')
    .option('--base-url <url>', 'address of the API')
    .addHelpText('after', EXITS)
    .showHelpAfterError('Add --help to see the usage.')
    .exitOverride()
    .configureOutput({ writeOut: io.out.write, writeErr: io.err.write })
  for (const add of groups) add(program, io)
  suggestCommands(program)
  return program
}

/** Runs one command line. `args` excludes the names of node and the script. */
export async function run(io: Io, args: string[]): Promise<ExitCode> {
  const isJson = args.includes('--json')
  const program = createProgram(io)
  try {
    refuseKeys(args)
    await program.parseAsync(args, { from: 'user' })
    return exitCodes.done
  } catch (error) {
    if (error instanceof CommanderError) return commanderExit(error)
    return reportFailure(io, error, { isJson })
  }
}

/** Commander has already printed its message. */
const commanderExit = ({ exitCode }: CommanderError): ExitCode =>
  exitCode === 0 ? exitCodes.done : exitCodes.usage

/** A command line is visible in the history of the shell and in the process list. */
function refuseKeys(args: string[]): void {
  if (!args.some((arg) => /svc_sk_[0-9a-f]{8}/i.test(arg))) return
  throw misused(
    'An API key on the command line is kept in the history of your shell.',
    'Revoke that key in the dashboard and create a new one.',
    'Enter the new key at the prompt of steward login, or pipe it: steward login --key-stdin',
  )
}
