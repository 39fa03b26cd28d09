import { execFile, execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const cruiser = 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs'

/** Files that break a rule each, and the rule. */
const mutants: [file: string, text: string, rule: string][] = [
  ['worker/mutant.ts', `import '../custody/open.js'`, 'only-the-signer-opens-keys'],
  ['api/mutant.ts', `import '../custody/kek/file.js'`, 'only-the-signer-opens-keys'],
  ['activities/mutant.ts', `import '../signer/sign.js'`, 'nothing-imports-the-signer'],
  ['signer/mutant.ts', `import '@temporalio/common'`, 'signer-never-reaches-temporal'],
  ['relayer/mutant.ts', `import '@temporalio/client'`, 'relayer-never-reaches-temporal'],
  [
    'api/http/mutant.ts',
    `import '../endpoints/service/getCredits.js'`,
    'api-http-imports-only-what-it-may',
  ],
  ['domain/mutant.ts', `import '../db/keys.js'`, 'domain-imports-only-what-it-may'],
  [
    'clients/dashboard/src/mutant.ts',
    `import '../../../api/schemas/parameters.js'`,
    'dashboard-imports-nothing-of-the-server',
  ],
  [
    'clients/dashboard/src/mutantType.ts',
    `import type { Db } from '../../../db/client/connect.js'\nexport type Mine = Db`,
    'dashboard-imports-types-of-schemas-only',
  ],
  [
    'api/mutantPage.ts',
    `import '../clients/dashboard/src/live.js'`,
    'nothing-imports-the-dashboard',
  ],
  ['evm/mutant.ts', `import './mutantToo.js'`, 'no-cycles'],
]
/** Closes the circle of the last one. */
const companion = ['evm/mutantToo.ts', `import './mutant.js'`] as const

type Violation = { from: string; rule: { name: string } }

let folder: string
let violations: Violation[]

/** The tree as it is, in a folder of its own, with the mutant files in it. Only what these reach is looked at. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'steward-directions-'))
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate']
  const files = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim().split('\n')
  for (const file of files.filter((name) => existsSync(join(root, name)))) {
    cpSync(join(root, file), join(folder, file))
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const [file, text] of [...mutants, companion]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), `${text}\n`)
  }
  violations = await cruise()
})

afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

function cruise(): Promise<Violation[]> {
  const flags = ['--config', '.dependency-cruiser.cjs', '--output-type', 'json']
  const files = mutants.map(([file]) => file)
  return new Promise((resolve, reject) => {
    const options = { cwd: folder, maxBuffer: 100_000_000 }
    execFile(process.execPath, [cruiser, ...flags, ...files], options, (error, stdout) => {
      // It exits with the number of violations; without an answer it did not run.
      if (!stdout) return void reject(error ?? new Error('no answer'))
      resolve((JSON.parse(stdout) as { summary: { violations: Violation[] } }).summary.violations)
    })
  })
}

describe('directions of imports', () => {
  test.each(mutants)('%s: %s is refused', (file, _text, rule) => {
    const broken = violations.filter(({ from }) => from === file).map(({ rule }) => rule.name)
    expect(broken).toContain(rule)
  })
})
