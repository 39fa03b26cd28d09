import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import { findPython, packageFolder, runPython } from './python/environment.js'
import { describeCases, findCases, runCases } from './python/pytest.js'
import { startSdkWorld, type SdkWorld } from './python/world.js'

/** The first run on a machine fetches packages. */
const python = await findPython()
const describeWithPython = python === undefined ? describe.skip : describe

const RUN_MS = 400_000
const pyright = fileURLToPath(new URL('../../node_modules/pyright/index.js', import.meta.url))

describeWithPython('steward-sdk by itself', () => {
  let report: Awaited<ReturnType<typeof runCases>>

  beforeAll(async () => {
    report = await runCases(python ?? '', 'unit')
  }, RUN_MS)

  describeCases('its rules', findCases('unit'), () => report)

  test(
    'pyright finds nothing in it, strictly, nor in its tests and the example',
    async () => {
      const args = [pyright, '--project', packageFolder, '--pythonpath', python ?? '']
      const said = await promisify(execFile)(process.execPath, args).catch(
        ({ stdout }: { stdout: string }) => ({ stdout }),
      )
      expect(said.stdout).toContain('0 errors, 0 warnings')
    },
    RUN_MS,
  )

  test('without warnings in an interpreter that makes errors of them', async () => {
    const env = { PYTHONPATH: 'src' }
    const args = ['-W', 'error', '-c', 'import steward; print(steward.__version__)']
    expect(await runPython(python ?? '', args, env)).toEqual({ code: 0, output: '0.2.0\n' })
  })
})

describeWithPython('steward-sdk with the API', () => {
  let world: SdkWorld
  let report: Awaited<ReturnType<typeof runCases>>

  beforeAll(async () => {
    world = await startSdkWorld()
    report = await runCases(python ?? '', 'api', world.env)
  }, RUN_MS)
  afterAll(() => world?.stop())

  describeCases('both clients', findCases('api'), () => report)
})
