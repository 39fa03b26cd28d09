import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A bug as a patch of the tree, and the test that must not let it through. */
export type Mutant = {
  /** `api/cancel-scope`: room and file. */
  name: string
  /** What is broken, in a sentence. */
  broken: string
  /** The test file that must catch it, from the root of the tree. */
  test: string
  /** Absolute path. */
  patch: string
}

/** Where the patches are, from the root of the tree: a folder for each room. */
export const MUTANTS = 'test/mutants'

const ENDING = '.patch'
const catcher = /^Caught by (\S+)$/

/**
 * Reads the mutant bugs of a tree, in the order of their names.
 *
 * @param words - Only those whose name or test has one of these in it; all when there is none.
 * @throws When the first line of a patch says nothing, or the second one does not name a test.
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
  throw new Error(`${patch} begins with a sentence, and a line "Caught by" with a test file.`)
}
