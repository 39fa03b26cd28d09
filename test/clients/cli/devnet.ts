import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { joinWorld } from '../../e2e/world.js'
import { createCliUser } from './program.js'

export type DevnetUser = Awaited<ReturnType<typeof openDevnet>>

/** A user with an own account, logged in to the stack of the run with `steward login --devnet`. */
export async function openDevnet() {
  const world = await joinWorld()
  const { apiKey, apiBaseUrl } = world.stack.facts
  const user = createCliUser()
  const home = join(user.home, 'devnet')
  mkdirSync(home)
  writeFileSync(join(home, 'dev.json'), JSON.stringify({ apiKey, apiBaseUrl }))
  const env = { STEWARD_HOME: home }
  const { code, stderr } = await user.run(['login', '--devnet'], { env })
  expect([code, stderr]).toEqual([0, ''])
  return {
    ...{ world, user },
    async close() {
      const allOutput = user.allOutput()
      user.leave()
      await world.stop()
      expect(allOutput).not.toContain(apiKey.slice(11, -4))
    },
  }
}
