import { ServiceError } from '../domain/errors.js'
import { readCommand, USAGE } from './accountCommand.js'
import { useOwnerDatabase } from './ownerDatabase.js'

try {
  const work = readCommand(process.argv.slice(2))
  if (work) await useOwnerDatabase(process.env, work)
  else console.log(USAGE)
} catch (error) {
  const name = error instanceof Error ? error.name : typeof error
  console.error(error instanceof ServiceError ? error.message : `Unexpected ${name}.`)
  process.exitCode = 1
}
