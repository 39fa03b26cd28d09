import { run } from '../clients/examples/programs.js'
import { readCodeBlocks, type CodeBlock } from '../../dev/tools/codeBlocks.js'

/** Shell blocks of a page, in their order. */
export const readShellBlocks = (page: string): CodeBlock[] =>
  readCodeBlocks(page).filter(({ language }) => ['sh', 'bash'].includes(language))

type ShellRun = {
  env?: NodeJS.ProcessEnv
  /** Where the shell starts: the root of the repository when absent. */
  folder?: string
}

/**
 * Runs blocks unchanged, in order, in one shell, so that a later block sees the variables of an earlier one.
 *
 * @returns What each block has printed.
 * @throws {Error} with all output when a command fails or a variable is not set.
 */
export async function runShellBlocks(
  blocks: CodeBlock[],
  { env = {}, folder = '.' }: ShellRun = {},
): Promise<string[]> {
  const script = blocks.map(({ code }) => `${code}\nprintf '\\0'`)
  const args = ['-c', ['set -euo pipefail', ...script].join('\n')]
  const output = await run('bash', { args, folder, env })
  return output.split('\0').slice(0, -1)
}
