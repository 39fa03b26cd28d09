import { USAGE, runAudit } from './audit/auditCommand.js'
import { printReport } from './report.js'

process.exitCode = await printReport(() => runAudit(process.argv.slice(2), process.env), USAGE)
