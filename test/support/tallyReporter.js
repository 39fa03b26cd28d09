/** Prints `N passed, N failed` as the last line of the run, after everything that jest has to say. */
export default class TallyReporter {
  #results

  constructor() {
    process.once('exit', () => {
      if (this.#results) process.stdout.write(`${tally(this.#results)}\n`)
    })
  }

  onRunComplete(_contexts, results) {
    this.#results = results
  }
}

/** A file that could not be loaded or cleaned up counts as one failure. */
function tally(results) {
  const failed = results.numFailedTests + results.numRuntimeErrorTestSuites
  const skipped = results.numPendingTests + results.numTodoTests
  return `${results.numPassedTests} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`
}
