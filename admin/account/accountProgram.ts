import { ServiceError } from '../../domain/errors.js'
import { readCommand, USAGE } from './accountCommand.js'
import { useOwnerDatabase } from '../ownerDatabase.js'

/**
 * Runs a command of an operator and prints its output, or its error in one line.
 *
 * @returns The exit code.
 */
export async function runAccount(argv: string[], env: NodeJS.ProcessEnv): Promise<0 | 1> {
  try {
    const work = readCommand(argv)
    if (work) await useOwnerDatabase(env, work)
    else console.log(USAGE)
    return 0
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error
    console.error(error instanceof ServiceError ? error.message : `Unexpected ${name}.`)
    return 1
  }
}
