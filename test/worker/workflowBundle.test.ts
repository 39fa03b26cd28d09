import { describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
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

  test('has every workflow, and of the domain what they use', () => {
    const own = modules.filter((path) => !path.startsWith('node_modules/'))
    expect(own).toEqual(expect.arrayContaining(['workflows/executeIntent.ts', 'domain/intent.ts']))
    expect(own).not.toContain('domain/errors.ts')
  })
})
