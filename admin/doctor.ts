import { USAGE, diagnose } from './doctorCommand.js'
import { printReport } from './report.js'

process.exitCode = await printReport(() => diagnose(process.argv.slice(2), process.env), USAGE)
