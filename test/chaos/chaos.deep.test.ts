import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { runStorm } from './run.js'

/** A storm in which no client succeeds proves nothing. */
const LEAST_INTENTS = 8

const seed = process.env.CHAOS_SEED ?? randomBytes(4).toString('hex')

test(`a storm of half a minute or more loses, doubles and hides nothing (CHAOS_SEED=${seed})`, async () => {
  const { verdict, ...report } = await runStorm({
    seed,
    stormMs: 30_000,
    leastIntents: LEAST_INTENTS,
    calmMs: 90_000,
    wallets: 8,
    killEveryMs: 2_500,
    outageEveryMs: 10_000,
    say: () => undefined,
  })
  process.stdout.write(`storm ${JSON.stringify(report)}\n`)
  for (const [name, found] of Object.entries(verdict)) expect([name, found]).toEqual([name, []])
  expect(report.intents.ordered).toBeGreaterThanOrEqual(LEAST_INTENTS)
}, 300_000)
