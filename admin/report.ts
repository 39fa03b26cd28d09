import { ServiceError } from '../domain/errors.js'

/**
 * Prints the report of a command, or its error in one line.
 *
 * @param usage - Printed when the command returns no report.
 * @returns The exit code of the report; 2 after an error.
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
