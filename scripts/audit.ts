import { ServiceError } from '../domain/errors.js'
import { USAGE, runAudit } from './auditCommand.js'

try {
  const report = await runAudit(process.argv.slice(2), process.env)
  console.log(report?.text ?? USAGE)
  process.exitCode = report?.exitCode ?? 0
} catch (error) {
  const name = error instanceof Error ? error.name : typeof error
  console.error(error instanceof ServiceError ? error.message : `Unexpected ${name}.`)
  process.exitCode = 2
}
