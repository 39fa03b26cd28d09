import { ServiceError } from '../domain/errors.js'

/**
 * Prints what a command reports, or in one line why there is no report.
 *
 * @param usage - Printed when it was asked for instead.
 * @returns The exit code: that of the report, 2 when there is none.
 */
export async function printReport(
  make: () => Promise<{ text: string; exitCode: number } | undefined>,
  usage: string,
): Promise<number> {
  try {
    const report = await make()
    console.log(report?.text ?? usage)
    return report?.exitCode ?? 0
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error
    console.error(error instanceof ServiceError ? error.message : `Unexpected ${name}.`)
    return 2
  }
}
