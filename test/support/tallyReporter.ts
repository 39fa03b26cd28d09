import type { SerializedError, TestError } from 'vitest'
import type { Reporter, TestModule } from 'vitest/node'

/** Prints each failed test and `N passed, N failed` as the last lines of the run, after every other reporter. */
export default class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const lines = [...listFailures(modules), tally(modules, errors.length)]
    process.once('exit', () => process.stdout.write(`${lines.join('\n')}\n`))
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

/** A line for each failure: its file, its test and the first line of its error. */
function listFailures(modules: readonly TestModule[]): string[] {
  const tests = modules.flatMap((module) => [...module.children.allTests()])
  return [
    ...tests.map((test) => describe(test.module, test.fullName, test.result().errors)),
    ...modules.map((module) =>
      describe(
        module,
        'outside of its tests',
        [module, ...module.children.allSuites()].flatMap((suite) => suite.errors()),
      ),
    ),
  ].flat()
}

function describe(
  { relativeModuleId }: TestModule,
  name: string,
  errors: readonly TestError[] = [],
): string[] {
  return errors.map(
    ({ message }) => `FAILED ${relativeModuleId} > ${name}: ${message.split('\n')[0]}`,
  )
}

function hasErrorOfItsOwn(module: TestModule): boolean {
  return [module, ...module.children.allSuites()].some((suite) => suite.errors().length > 0)
}
