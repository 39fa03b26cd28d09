import { describe, expect, test } from 'vitest'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readMutants, type Mutant } from './patches.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

describe('the mutants of this tree', () => {
  /** Running all mutants takes half an hour. This test detects outdated patches at once. */
  test('apply to the current code, and name existing tests', () => {
    const fits = ({ patch, test }: Mutant) => {
      const check = spawnSync('git', ['apply', '--check', patch], { cwd: root })
      return check.status === 0 && existsSync(join(root, test))
    }
    const left = readMutants(root, []).filter((mutant) => !fits(mutant))
    expect(left.map(({ name }) => name)).toEqual([])
  })
})
