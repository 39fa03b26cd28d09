import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files whose tests use a whole stack. */
const isLong = ({ moduleId }: TestSpecification) => /\/test\/(e2e|chaos)\//.test(moduleId)

/**
 * Starts the longest files first, also without measurements of an earlier run, because a run ends with its last file.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
