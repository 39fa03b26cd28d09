import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createAccount, createApiKey } from '../../../db/accounts/accounts.js'
import { installSchemathesis, prepareRun } from '../../../dev/tools/fuzz/schemathesis.js'
import { joinWorld, type E2eWorld } from '../../e2e/world.js'

/** Times of a busy machine. A run takes a minute on two idle cores. */
const RUN_MS = 600_000
const SEED = '1'
const EXAMPLES = 3
const OUTPUT_BYTES = 50_000_000

/** The first run on a machine downloads the program. */
const program = await installSchemathesis().catch((error: unknown) => {
  if (process.env.CI === 'true') throw error
  const [why] = String(error).split('\n')
  console.warn(`Skipped: schemathesis could not be installed from PyPI. ${why}`)
  return undefined
})
const describeWithProgram = program === undefined ? describe.skip : describe

describeWithProgram('schemathesis with its default checks, against the whole service', () => {
  let world: E2eWorld
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'steward-fuzz-'))
    world = await joinWorld()
  }, RUN_MS)
  afterAll(async () => {
    await world?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  test(
    'every response conforms to the OpenAPI document, except as dev/tools/fuzz/schemathesis.toml explains',
    async () => {
      const { id } = await createAccount(world.db, { name: 'fuzz', plan: 'enterprise' })
      await world.db('account').where({ id }).update({ rpm: 1_000_000 })
      const key = await createApiKey(world.db, id, { name: 'fuzz' })
      const target = { url: world.stack.facts.hostUrl, key }
      const run = { folder, seed: SEED, examples: EXAMPLES, workers: 1 }
      const { args, env } = await prepareRun(target, run)
      console.log(`Seed ${SEED}`)
      const { code, output } = await execute(args, env)
      expect(code, output).toBe(0)
      // All phases ran, and each operation was called.
      expect(output).toMatch(/Selected: (\d+)\/\1\s+Tested: \1/)
      for (const phase of ['Examples', 'Coverage', 'Fuzzing', 'Stateful']) {
        expect(output).toContain(`✅ ${phase}`)
      }
    },
    RUN_MS,
  )

  function execute(args: string[], env: NodeJS.ProcessEnv) {
    const options = { env, cwd: folder, maxBuffer: OUTPUT_BYTES }
    return new Promise<{ code: number; output: string }>((resolve) => {
      execFile(program ?? '', args, options, (error, stdout, stderr) => {
        resolve({ code: error ? 1 : 0, output: stdout + stderr })
      })
    })
  }
})
