import { describe, expect, test } from 'vitest'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readMutants, type Mutant } from './patches.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

describe('the mutant bugs of this tree', () => {
  /** Running them all takes half an hour. A patch that no longer applies is seen at once. */
  test('fit the code as it is, and name a test that is there', () => {
    const fits = ({ patch, test }: Mutant) => {
      const check = spawnSync('git', ['apply', '--check', patch], { cwd: root })
      return check.status === 0 && existsSync(join(root, test))
    }
    const left = readMutants(root, []).filter((bug) => !fits(bug))
    expect(left.map(({ name }) => name)).toEqual([])
  })
})
