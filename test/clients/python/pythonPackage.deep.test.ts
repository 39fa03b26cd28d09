import { beforeAll, describe, expect, test } from 'vitest'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import { findPython, packageFolder } from './environment.js'
import { describeCases, runCases } from './pytest.js'

const python = await findPython()
const describeWithPython = python === undefined ? describe.skip : describe

const RUN_MS = 400_000
const pyright = fileURLToPath(new URL('../../../node_modules/pyright/index.js', import.meta.url))

describeWithPython('steward-sdk as a package', () => {
  let report: Awaited<ReturnType<typeof runCases>>

  beforeAll(async () => {
    report = await runCases(python ?? '', ['package'])
  }, RUN_MS)

  describeCases(['package'], () => report)

  test(
    'pyright in strict mode finds no error in the package, its tests and the examples',
    async () => {
      const args = [pyright, '--project', packageFolder, '--pythonpath', python ?? '']
      const checked = await promisify(execFile)(process.execPath, args).catch(
        ({ stdout }: { stdout: string }) => ({ stdout }),
      )
      expect(checked.stdout).toContain('0 errors, 0 warnings')
    },
    RUN_MS,
  )
})
