import { misused } from '../exit.js'
import { networkOf } from '../network.js'
import { openSession, openSpeaker, type GlobalOptions } from '../session.js'
import { parseDuration } from '../options.js'
import { impossible, recipes } from '../trigger.js'
import { signs, type Io } from '../terminal/io.js'
import type { Command } from 'commander'

type TriggerCommandOptions = { wallet?: string; webhook?: string; timeout?: number }

const TIMEOUT_MS = 180_000

export function addTrigger(program: Command, io: Io): void {
  program
    .command('trigger')
    .argument('[event]', 'such as intent.completed; absent: list all events')
    .option('--wallet <wallet>', 'use this wallet instead of a new one')
    .option('--webhook <webhookId>', 'endpoint of webhook.test')
    .option('--timeout <time>', 'wait at most this long, such as 90s', parseDuration)
    .description('cause a real event with test money')
    .action(async (event: string | undefined, options: TriggerCommandOptions, command: Command) => {
      if (event === undefined) return printEvents(io, command)
      const recipe = Object.hasOwn(recipes, event) ? recipes[event] : undefined
      if (!recipe) throw refusal(event)
      const session = openSession(io, command)
      if ((await networkOf(session)) !== 'testnet') {
        throw misused(
          'This login moves real money, so nothing is triggered.',
          'Use a login of a test network.',
        )
      }
      const { timeout: timeoutMs = TIMEOUT_MS, wallet, webhook } = options
      const means = { timeoutMs, ...(wallet && { wallet }), ...(webhook && { webhook }) }
      const made = await recipe.make(session, event, means)
      const id = made.intentId ?? made.deliveryId ?? made.walletId
      session.say.show(made, () => [`${signs.done} Triggered ${event}: ${id}`])
    })
}

function printEvents(io: Io, command: Command): void {
  const say = openSpeaker(io, command.optsWithGlobals<GlobalOptions>().json === true)
  const possible = Object.entries(recipes).map(([event, { how }]) => ({ event, how }))
  const others = Object.entries(impossible).map(([event, why]) => ({ event, why }))
  say.show({ possible, impossible: others }, () => [
    ...say.table(possible, [
      { title: 'EVENT', of: ({ event }) => event },
      { title: 'HOW', of: ({ how }) => how },
    ]),
    '',
    ...say.table(others, [
      { title: 'NOT TRIGGERABLE', of: ({ event }) => event },
      { title: 'WHY', of: ({ why }) => why },
    ]),
  ])
}

function refusal(event: string) {
  const why = Object.hasOwn(impossible, event) ? impossible[event] : undefined
  const message = why ? `${event} cannot be triggered: it ${why}.` : `Unknown event ${event}.`
  return misused(message, `Available: ${Object.keys(recipes).join(', ')}`)
}
