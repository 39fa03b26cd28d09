import type { SerializedError } from 'vitest'
import type { Reporter, TestModule } from 'vitest/node'

/** Prints `N passed, N failed` as the last line of the run, after every other reporter. */
export default class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const line = tally(modules, errors.length)
    process.once('exit', () => process.stdout.write(`${line}\n`))
  }
}

/** A file that could not be loaded or cleaned up, and an error outside of any test, count as one failure each. */
function tally(modules: readonly TestModule[], errors: number): string {
  const tests = modules.flatMap((module) => [...module.children.allTests()])
  const count = (state: string) => tests.filter((test) => test.result().state === state).length
  const broken = modules.filter(hasErrorOfItsOwn).length
  const skipped = count('skipped')
  return `${count('passed')} passed, ${count('failed') + broken + errors} failed${skipped ? `, ${skipped} skipped` : ''}`
}

function hasErrorOfItsOwn(module: TestModule): boolean {
  return [module, ...module.children.allSuites()].some((suite) => suite.errors().length > 0)
}
