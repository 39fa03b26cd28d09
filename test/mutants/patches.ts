import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A mutant: a patch that breaks the tree, and the test file that must fail. */
export type Mutant = {
  /** Folder and file, such as `api/cancel-scope`. */
  name: string
  /** The broken promise in one sentence. */
  broken: string
  /** The test file that must fail, relative to the root. */
  test: string
  /** Absolute path. */
  patch: string
}

/** Folder of the patches relative to the root, with a folder per subject. */
export const MUTANTS = 'test/mutants'

const ENDING = '.patch'
const catcher = /^Caught by (\S+)$/

/**
 * Reads the mutants of a tree, sorted by name.
 *
 * @param words - Selects mutants whose name or test contains one of these; all when empty.
 * @throws When a patch does not begin with a sentence, or its second line names no test.
 */
export function readMutants(root: string, words: string[]): Mutant[] {
  const files = readdirSync(join(root, MUTANTS), { recursive: true, encoding: 'utf8' })
  const all = files.filter((file) => file.endsWith(ENDING)).sort()
  return all
    .map((file) => readOne(join(root, MUTANTS, file), file.slice(0, -ENDING.length)))
    .filter(({ name, test }) => isNamed(words, name, test))
}

const isNamed = (words: string[], ...names: string[]) =>
  words.length === 0 || words.some((word) => names.some((name) => name.includes(word)))

function readOne(patch: string, name: string): Mutant {
  const [broken = '', second = ''] = readFileSync(patch, 'utf8').split('\n')
  const test = catcher.exec(second)?.[1]
  if (test && broken.endsWith('.')) return { name, broken, test, patch }
  throw new Error(`${patch} must begin with a sentence and a line "Caught by" with a test file.`)
}
