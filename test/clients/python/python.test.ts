import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findPython, runPython } from './environment.js'
import { describeCases, runCases } from './pytest.js'
import { startSdkWorld, type SdkWorld } from './world.js'

/** The first run on a machine downloads packages. */
const python = await findPython()
const describeWithPython = python === undefined ? describe.skip : describe

const RUN_MS = 400_000
const folders = ['unit', 'api'] as const

describeWithPython('steward-sdk: rules, and both clients with the API', () => {
  let world: SdkWorld
  let report: Awaited<ReturnType<typeof runCases>>

  beforeAll(async () => {
    world = await startSdkWorld()
    report = await runCases(python ?? '', folders, world.env)
  }, RUN_MS)
  afterAll(() => world?.stop())

  describeCases(folders, () => report)

  test('the import raises no warning', async () => {
    const env = { PYTHONPATH: 'src' }
    const args = ['-W', 'error', '-c', 'import steward; print(steward.__version__)']
    expect(await runPython(python ?? '', args, env)).toEqual({ code: 0, output: '0.3.0\n' })
  })
})
