import { recipes } from '../trigger.js'
import type { Command, Option } from 'commander'

/** The words that can follow a command. */
export type Node = {
  /** Names of the commands, such as `intents lend`. Empty for the program itself. */
  path: string
  commands: { name: string; about: string }[]
  options: { flag: string; about: string; takesValue: boolean; values: readonly string[] }[]
  /** Known values of the first argument. */
  values: readonly string[]
}

const argumentValues: Record<string, readonly string[]> = {
  trigger: Object.keys(recipes),
  completion: ['bash', 'zsh'],
  'intents preview': ['lend', 'withdraw', 'bridge'],
}
const optionValues: Record<string, readonly string[]> = {
  '--status': ['pending', 'planning', 'executing', 'completed', 'failed'],
  '--action': ['lend', 'withdraw', 'bridge'],
}

/** Every command of the program with its possible next words. */
export function readWords(program: Command): Node[] {
  const globals = program.options
  const visit = (command: Command, path: string): Node[] => {
    const node = {
      path,
      commands: command.commands.map((one) => ({ name: one.name(), about: one.description() })),
      options: [...new Set([...command.options, ...globals])].map(toWord),
      values: argumentValues[path] ?? [],
    }
    const below = command.commands.flatMap((one) => visit(one, `${path} ${one.name()}`.trim()))
    return [node, ...below]
  }
  return visit(program, '')
}

const toWord = ({ long, short, description, required, optional, argChoices }: Option) => ({
  flag: long ?? short ?? '',
  about: description,
  takesValue: required || optional,
  values: argChoices ?? optionValues[long ?? ''] ?? [],
})
