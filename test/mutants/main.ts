import { parseArgs } from 'node:util'
import { runTests, stopRun, type FileReport, type VitestReport } from './vitestRun.js'
import { readMutants, MUTANTS, type Mutant } from './patches.js'
import { createScratch, type Scratch } from './scratch.js'

const USAGE = `Usage: npm run mutants -- [word …] [--list] [--seconds 300]

Applies one mutant after the other (${MUTANTS}/<folder>/<mutant>.patch) to a copy of this tree and runs the test
that must catch it. Fails when a patch no longer applies, or when a mutant survives. A patch begins with a sentence
on the broken promise and the line "Caught by <test file>". The rest is a git diff.

  word       only mutants with one of these words in their name or test
  --list     print them without running tests
  --seconds  time limit per mutant; a test that takes longer has not caught it`

/** For an unmodified test file, in which no broken promise can hang. */
const FILE_SECONDS = 300

/** `why`: empty when the mutant was caught. */
type MutantOutcome = Mutant & { why: string; seconds: number }

const options = {
  list: { type: 'boolean', default: false },
  seconds: { type: 'string', default: '300' },
  help: { type: 'boolean', default: false },
} as const

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  if (values.help) return print(USAGE, 0)
  const seconds = Number(values.seconds)
  if (!(seconds > 0)) return print('--seconds must be a number above 0.', 1)
  const mutants = readMutants(process.cwd(), positionals)
  if (mutants.length === 0) return print('No mutant has this name.', 1)
  if (values.list) return print(mutants.map(toListLine).join('\n'), 0)
  const scratch = createScratch(process.cwd())
  const end = () => {
    stopRun()
    scratch.remove()
    process.exit(130)
  }
  process.once('SIGINT', end).once('SIGTERM', end)
  try {
    return await runMutants(scratch, mutants, seconds)
  } finally {
    scratch.remove()
  }
}

function print(text: string, code: number): number {
  console.log(text)
  return code
}

const toListLine = ({ name, broken, test }: Mutant) => `${name}\n  ${broken}\n  ${test}`

/** Returns the exit code. */
async function runMutants(scratch: Scratch, mutants: Mutant[], seconds: number): Promise<number> {
  const broken = await findBroken(scratch, mutants)
  if (broken.length > 0) {
    const text = broken.map(([file, why]) => `${file} fails without a mutant:\n${why}`).join('\n')
    return print(text, 1)
  }
  const line = toLine(mutants)
  console.log(line({ name: 'patch', test: 'test' }, 'caught', 'seconds'))
  const outcomes: MutantOutcome[] = []
  for (const one of mutants) {
    const outcome = await runMutant(scratch, one, seconds)
    outcomes.push(outcome)
    const caught = outcome.why ? `no: ${outcome.why}` : 'yes'
    console.log(line(outcome, caught, outcome.seconds.toFixed(1)))
  }
  const caught = outcomes.filter(({ why }) => !why).length
  return print(`\n${caught} of ${mutants.length} caught`, caught === mutants.length ? 0 : 1)
}

/** Test files that fail without a mutant. Their result for a mutant would prove nothing. */
async function findBroken(
  { path }: Scratch,
  mutants: Mutant[],
): Promise<[file: string, why: string][]> {
  const files = [...new Set(mutants.map(({ test }) => test))]
  const seconds = FILE_SECONDS * files.length
  console.log(`Without a mutant: ${files.join(', ')} …`)
  const report = await runTests(path, files, seconds)
  if (!report) return [[files.join(', '), `They took longer than ${seconds} s.`]]
  return files.flatMap((file) => {
    const { passed, failed, message } = report.get(file) ?? noReport
    return passed > 0 && failed === 0 && !message ? [] : [[file, message] as [string, string]]
  })
}

const noReport: FileReport = { passed: 0, failed: 0, message: 'There is no such test file.' }

async function runMutant(
  scratch: Scratch,
  mutant: Mutant,
  seconds: number,
): Promise<MutantOutcome> {
  if (!scratch.apply(mutant.patch)) {
    return { ...mutant, why: 'the patch does not apply', seconds: 0 }
  }
  const started = performance.now()
  const report = await runTests(scratch.path, [mutant.test], seconds)
  scratch.revert(mutant.patch)
  const took = (performance.now() - started) / 1000
  return { ...mutant, why: judge(report, mutant.test, seconds), seconds: took }
}

/** The reason why a mutant was not caught; empty when it was. */
function judge(report: VitestReport, test: string, seconds: number): string {
  if (!report) return `longer than ${seconds} s`
  const { passed, failed, message } = report.get(test) ?? noReport
  if (failed + passed === 0) return `no test was run: ${message.trim().split('\n')[0]}`
  if (failed === 0) return 'it survived'
  // If all tests of a file fail alike, the mutant has broken their setup, and no test has checked its promise.
  if (passed === 0 && failed > 1) return 'every test failed'
  return ''
}

/** Table lines with columns wide enough for the outcomes. */
function toLine(mutants: Mutant[]) {
  const width = (texts: string[]) => Math.max(...texts.map((text) => text.length))
  const [name, test] = [
    width(mutants.map((one) => one.name)),
    width(mutants.map((one) => one.test)),
  ]
  return (one: { name: string; test: string }, caught: string, seconds: string) =>
    `${one.name.padEnd(name)}  ${one.test.padEnd(test)}  ${seconds.padStart(7)}  ${caught}`
}

process.exitCode = await main()
