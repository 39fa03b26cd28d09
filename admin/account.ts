import { runAccount } from './account/accountProgram.js'

process.exitCode = await runAccount(process.argv.slice(2), process.env)
