import type { SerializedError } from 'vitest'
import type { Reporter, TestModule } from 'vitest/node'

/** Prints each failed test and `N passed, N failed` as the last lines of the run, after every other reporter. */
export default class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const lines = [...listFailures(modules, errors), tally(modules, errors.length)]
    process.once('exit', () => process.stdout.write(`${lines.join('\n')}\n`))
  }
}

/** A file that fails to load or clean up, and an error outside of tests, count as one failure each. */
function tally(modules: readonly TestModule[], errors: number): string {
  const tests = modules.flatMap((module) => [...module.children.allTests()])
  const count = (state: string) => tests.filter((test) => test.result().state === state).length
  const broken = modules.filter(hasErrorOfItsOwn).length
  const skipped = count('skipped')
  return `${count('passed')} passed, ${count('failed') + broken + errors} failed${skipped ? `, ${skipped} skipped` : ''}`
}

/** One line per failure: its file, its test and the first line of its error. */
function listFailures(
  modules: readonly TestModule[],
  errors: readonly SerializedError[],
): string[] {
  const failures = modules.flatMap((module) => {
    const suites = [module, ...module.children.allSuites()]
    const outside = suites.flatMap((suite) => suite.errors())
    const tests = [...module.children.allTests()].flatMap((test) =>
      (test.result().errors ?? []).map(lineOf(`${module.relativeModuleId} > ${test.fullName}`)),
    )
    return [...tests, ...outside.map(lineOf(`${module.relativeModuleId}, outside of its tests`))]
  })
  return [...failures, ...errors.map(lineOf('outside of any test'))]
}

const lineOf =
  (where: string) =>
  ({ message }: { message: string }) =>
    `FAILED ${where}: ${message.split('\n')[0]}`

function hasErrorOfItsOwn(module: TestModule): boolean {
  return [module, ...module.children.allSuites()].some((suite) => suite.errors().length > 0)
}
