import * as fs from 'node:fs'
import path from 'node:path'
import pc from 'picocolors'
import { chainNames, type ChainName } from '../evm/registry.js'
import { sayFacts } from './banner.js'
import { runDemo } from './demoRun.js'
import { writeJson } from './state/jsonFile.js'
import { addSampleData } from './sample/sampleData.js'
import { services, stopOrder } from './stack/parts.js'
import { choosePorts } from './ports.js'
import { commandAgeMs, findLaunchers, isRunning } from './state/processes.js'
import { readPlaces, readPortChoices } from './settings.js'
import { type Facts } from './context.js'
import { bringUp, repairChain } from './bringUp.js'
import {
  lockHome,
  makeFolders,
  openHome,
  openSet,
  reapOrphans,
  recordChildren,
  rootFolder,
  saveSet,
  wipeHome,
  type Home,
} from './state/state.js'
import { createSupervisor, type Supervisor } from './stack/supervise.js'
import { UserError, formatSeconds, say, printFailure, sign } from './terminal.js'

type CommandOptions = { isFresh: boolean; withDemo: boolean; withSampleData: boolean }

const knownOptions = ['--fresh', '--no-demo', '--sample-data']
const USAGE = `Usage: npm start -- ${knownOptions.map((one) => `[${one}]`).join(' ')}`

/** A second Ctrl-C kills at once. npm and tsx repeat the first one within this time. */
const IMPATIENCE_MS = 1_000

const LAUNCHER_CHECK_MS = 500

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2))
  const home = openHome(process.env)
  makeFolders(home)
  const unlockHome = lockHome(home)
  say(`\n  ${pc.bold('Steward')} ${pc.dim(describeFolder(home))}`)

  const orphans = await reapOrphans(home, stopOrder)
  if (orphans.length > 0)
    say(`  ${sign.again} stopped processes of a killed run: ${orphans.join(', ')}`)
  const places = readPlaces(process.env)
  const ports = await choosePorts(readPortChoices(process.env, places))
  if (options.isFresh) wipeHome(home)
  makeFolders(home)
  const set = openSet(home, places)
  saveSet(home, set)

  const up: { facts?: Facts } = {}
  const stopping = new AbortController()
  const supervisor = createSupervisor({
    stopOrder,
    onPids: (pids) => recordChildren(home, pids),
    onBack(name) {
      if (!up.facts) return
      writeFacts(home, up.facts, supervisor)
      if (isChain(name)) repairChain({ home, set }, name, up.facts).catch(printFailure)
    },
    onGiveUp(error) {
      printFailure(error)
      if (up.facts) writeFacts(home, up.facts, supervisor)
    },
  })
  const end = stopOnSignal(home, supervisor, stopping, unlockHome)

  const context = { env: process.env, home, set, ports, supervisor, signal: stopping.signal }
  const devnet = await bringUp(context).catch(end)
  const { facts } = devnet
  up.facts = facts
  writeFacts(home, facts, supervisor)
  saveSet(home, { ...set, isComplete: true })
  say(`  ${pc.dim(`Ready after ${formatSeconds(commandAgeMs())}`)}`)
  sayFacts(facts)
  if (options.withSampleData) {
    await addSampleData(context, devnet).catch(sayUnless(stopping.signal))
  }
  if (options.withDemo) await runDemo(devnet).catch(sayUnless(stopping.signal))
  say(`  ${pc.dim('Serving. Ctrl-C stops everything; npm start continues from here.')}`)
}

/** A demo or sample data that is cut off by a stop is no failure. */
const sayUnless = (signal: AbortSignal) => (error: unknown) => {
  if (!signal.aborted) printFailure(error)
}

function parseOptions(args: string[]): CommandOptions {
  const unknown = args.filter((arg) => !knownOptions.includes(arg))
  if (unknown.length > 0) throw new UserError(`Unknown option ${unknown.join(' ')}. ${USAGE}`)
  return {
    isFresh: args.includes('--fresh'),
    withDemo: !args.includes('--no-demo'),
    withSampleData: args.includes('--sample-data'),
  }
}

function describeFolder(home: Home): string {
  const relative = path.relative(rootFolder, home.folder)
  return `state in ${relative.startsWith('..') ? home.folder : relative}`
}

const isChain = (name: string): name is ChainName => chainNames.some((chain) => chain === name)

/** Facts for tools and tests. The process ids are updated when a part restarts. */
function writeFacts(home: Home, facts: Facts, supervisor: Supervisor): void {
  const pids = supervisor.pids()
  const pidOf = (name: string) => pids[name] ?? null
  const others = Object.keys(pids).filter((name) => !isChain(name))
  const named = new Set([...services, 'temporal', 'postgres', ...others])
  writeJson(home.facts, {
    ...facts,
    pids: {
      ...Object.fromEntries([...named].map((name) => [name, pidOf(name)])),
      anvil: Object.fromEntries(chainNames.map((name) => [name, pidOf(name)])),
    },
  })
}

/**
 * Stops the stack on Ctrl-C, on SIGTERM, and when the command that started it was killed.
 *
 * @returns Stops the stack for another reason. An error is printed and ends with exit code 1.
 */
function stopOnSignal(
  home: Home,
  supervisor: Supervisor,
  stopping: AbortController,
  unlockHome: () => void,
): (reason: unknown) => Promise<never> {
  let stoppingSince = 0
  async function end(reason: unknown): Promise<never> {
    if (stoppingSince > 0) return new Promise<never>(() => undefined)
    stoppingSince = Date.now()
    stopping.abort()
    const isAsked = typeof reason === 'string'
    say(`\n  ${pc.dim(isAsked ? `${reason}: stopping …` : 'Stopping …')}`)
    await supervisor.stop()
    for (const file of [home.facts, home.children]) fs.rmSync(file, { force: true })
    unlockHome()
    if (!isAsked) process.exit(printFailure(reason))
    say(`  ${sign.done} Stopped ${pc.dim(formatSeconds(Date.now() - stoppingSince))}`)
    process.exit(0)
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (stoppingSince === 0) void end(name === 'SIGINT' ? 'Ctrl-C' : name)
      else if (Date.now() - stoppingSince > IMPATIENCE_MS) {
        supervisor.kill()
        process.exit(1)
      }
    })
  }
  process.on('uncaughtException', (error) => void end(error))
  const launchers = findLaunchers()
  setInterval(() => {
    if (!launchers.every(isRunning)) void end('The command was killed')
  }, LAUNCHER_CHECK_MS).unref()
  return end
}

// The terminal may be closed while parts still have to be stopped.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

main().catch((error: unknown) => {
  process.exit(printFailure(error))
})
