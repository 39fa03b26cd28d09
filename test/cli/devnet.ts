import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { joinWorld } from '../e2e/world.js'
import { createPerson } from './program.js'

export type Devnet = Awaited<ReturnType<typeof openDevnet>>

/** Somebody who is logged in to the stack of the run, as `steward login --devnet` does it, with an account of their own. */
export async function openDevnet() {
  const world = await joinWorld()
  const { apiKey, apiBaseUrl } = world.stack.facts
  const person = createPerson()
  const home = join(person.home, 'devnet')
  mkdirSync(home)
  writeFileSync(join(home, 'dev.json'), JSON.stringify({ apiKey, apiBaseUrl }))
  const env = { STEWARD_HOME: home }
  const { code, stderr } = await person.run(['login', '--devnet'], { env })
  expect([code, stderr]).toEqual([0, ''])
  return {
    ...{ world, person },
    async close() {
      const heard = person.heard()
      person.leave()
      await world.stop()
      expect(heard).not.toContain(apiKey.slice(11, -4))
    },
  }
}
