import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { workflowBundle } from '../support/temporal/workflowBundle.js'

const bundle = readFileSync(workflowBundle().codePath, 'utf8')
/** The modules in it, by their paths below the root. */
const modules = [...bundle.matchAll(/^\/\*{3}\/ "\.\/([^"]+)"/gm)].map(([, path]) => path ?? '')

describe('the bundle of the workflows', () => {
  test('is at most 300 kB, map included: each worker holds it several times', () => {
    expect(bundle.length).toBeLessThanOrEqual(300_000)
  })

  test('has of the installed packages only what the SDK brings', () => {
    const packages = modules
      .filter((path) => path.startsWith('node_modules/'))
      .map((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1])
    expect([...new Set(packages)].sort()).toEqual([
      '@temporalio/common',
      '@temporalio/workflow',
      'long',
      'ms',
      'nexus-rpc',
    ])
  })

  test('loads the workflows once, before the first of them runs', () => {
    expect(bundle).toMatch(
      /preloadModules\(\) \{\s+__webpack_require__\(.*"\.\/workflows\/index\.ts"\)/,
    )
  })

  test('has every workflow, and of the domain what they use', () => {
    const own = modules.filter((path) => !path.startsWith('node_modules/'))
    expect(own).toEqual(expect.arrayContaining(['workflows/executeIntent.ts', 'domain/intent.ts']))
    expect(own).not.toContain('domain/errors.ts')
  })
})

describe('a worker that finds no bundle', () => {
  const module = fileURLToPath(new URL('../../worker/workflowBundle.ts', import.meta.url))
  let folder: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'bundle-'))
  })
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true })
  })

  /** What a process says that has loaded it: the bundle, and the native libraries that it holds then. */
  function load(into: string): {
    bundle: { codePath?: string; code?: string }
    libraries: string[]
  } {
    const script = `
      const { loadWorkflowBundle } = await import(process.env.MODULE)
      const bundle = await loadWorkflowBundle(process.env.FOLDER)
      const libraries = process.report.getReport().sharedObjects
      process.stdout.write(JSON.stringify({ bundle, libraries }))`
    const args = ['--import', 'tsx', '--input-type=module', '--eval', script]
    const env = { ...process.env, MODULE: module, FOLDER: into, NODE_OPTIONS: '' }
    return JSON.parse(
      execFileSync(process.execPath, args, { env, encoding: 'utf8' }),
    ) as ReturnType<typeof load>
  }

  test('has it made by another process, and keeps no compiler in its own memory', () => {
    const { bundle, libraries } = load(folder)
    expect(readdirSync(folder)).toHaveLength(1)
    expect(readFileSync(bundle.codePath ?? '', 'utf8')).toEqual(
      readFileSync(workflowBundle().codePath, 'utf8'),
    )
    expect(libraries.filter((library) => /swc/.test(library))).toEqual([])
  })

  test('where nothing can be written, has it in its memory', () => {
    const { bundle } = load('/dev/null/nowhere')
    expect(bundle.code).toEqual(readFileSync(workflowBundle().codePath, 'utf8'))
  })
})
