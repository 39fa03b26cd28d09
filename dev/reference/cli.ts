import pc from 'picocolors'
import { USAGE as accountUsage } from '../../admin/account/accountCommand.js'
import { USAGE as auditUsage } from '../../admin/audit/auditCommand.js'
import { USAGE as doctorUsage } from '../../admin/doctorCommand.js'
import { createProgram } from '../../clients/cli/src/program.js'
import type { Io } from '../../clients/cli/src/terminal/io.js'

type CliCommand = ReturnType<typeof createProgram>

const WIDTH = 100

const INTRODUCTION = `# CLI

The pages of help, as the commands print them. \`npm run reference\` generates this page.

\`steward\` is the client of the API. Build it with \`npm run build --workspace clients/typescript --workspace clients/cli\` and run \`node clients/cli/dist/main.js\`. [Its README](../../clients/cli/README.md) explains logins and exit codes. The \`npm run\` commands at the end are for operators. They need a checkout or the container image.`

/** `docs/reference/cli.md`: the help of each command, in the order in which \`steward --help\` lists them. */
export function createCliPage(): string {
  const parts = listCommands(createProgram(quietIo())).map((command) =>
    toSection(nameOf(command), helpOf(command)),
  )
  const operators = [
    toSection('npm run account', accountUsage),
    toSection('npm run audit', auditUsage),
    toSection('npm run doctor', doctorUsage),
  ]
  return `${[INTRODUCTION, ...parts, ...operators].join('\n\n')}\n`
}

const toSection = (name: string, help: string) =>
  `## ${name}\n\n\`\`\`text\n${help.trimEnd()}\n\`\`\``

/** Commands that do something themselves, and the program itself. */
function listCommands(command: CliCommand): CliCommand[] {
  const below = command.commands.flatMap((one) => listCommands(one))
  return [command, ...below]
}

const nameOf = (command: CliCommand): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name()

function helpOf(command: CliCommand): string {
  let text = ''
  command.configureHelp({ helpWidth: WIDTH })
  command.configureOutput({
    writeOut: (part) => {
      text += part
    },
    getOutHelpWidth: () => WIDTH,
    getOutHasColors: () => false,
  })
  command.outputHelp()
  return text
}

/** Streams of a command that is only described. */
function quietIo(): Io {
  const output = {
    write: () => undefined,
    isTerminal: false,
    size: () => ({ columns: WIDTH, rows: 24 }),
    paint: pc.createColors(false),
  }
  const interrupted = new AbortController().signal
  return { env: {}, out: output, err: output, input: process.stdin, interrupted }
}
