import { ServiceError } from '../domain/errors.js'
import { USAGE, diagnose } from './doctorCommand.js'

try {
  const diagnosis = await diagnose(process.argv.slice(2), process.env)
  console.log(diagnosis?.text ?? USAGE)
  process.exitCode = diagnosis?.exitCode ?? 0
} catch (error) {
  const name = error instanceof Error ? error.name : typeof error
  console.error(error instanceof ServiceError ? error.message : `Unexpected ${name}.`)
  process.exitCode = 2
}
