import { examine, type DiagnosticCheck } from '../doctor.js'
import { CommandError } from '../exit.js'
import { openSession } from '../session.js'
import { plain } from '../terminal/text.js'
import { signs, type Io, type Output } from '../terminal/io.js'
import type { Command } from 'commander'

export function addDoctor(program: Command, io: Io): void {
  program
    .command('doctor')
    .description('diagnose address, health, clock, key, network and stream')
    .action(async (_options: object, command: Command) => {
      const session = openSession(io, command)
      const { say } = session
      const checks: DiagnosticCheck[] = []
      for await (const check of examine(session)) {
        checks.push(check)
        if (!say.isJson) io.out.write(`${checkLine(check, io.out)}\n`)
      }
      if (say.isJson) say.show({ checks: checks.map(bodyOf) }, () => [])
      const bad = checks.find(({ outcome }) => outcome === 'failed')
      if (bad) throw new CommandError(bad.exitCode, '')
    })
}

const bodyOf = ({ check, outcome, detail }: DiagnosticCheck) => ({ check, outcome, detail })

function checkLine({ check, outcome, detail }: DiagnosticCheck, { paint }: Output): string {
  const sign = {
    ok: paint.green(signs.done),
    warning: paint.yellow(signs.warning),
    failed: paint.red(signs.failed),
  }[outcome]
  return `${sign} ${check.padEnd(10)} ${plain(detail)}`
}
