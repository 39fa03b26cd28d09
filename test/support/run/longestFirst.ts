import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that hold the tests of a whole stack. */
const isLong = ({ moduleId }: TestSpecification) => /\/test\/(e2e|chaos)\//.test(moduleId)

/** Starts the longest files first, also where no run before has measured them: a run ends with its last file. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
