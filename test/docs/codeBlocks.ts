import { run } from '../clients/examples/programs.js'

/** A fenced block of a page. */
export type CodeBlock = {
  /** Empty when the fence names no language. */
  language: string
  code: string
  /** Line of the opening fence, from 1. */
  line: number
  /** Text of the nearest heading above, empty before the first. */
  heading: string
}

const FENCE = /^(\s*)(`{3,})([\w-]*).*$/

/**
 * Fenced blocks of a page in their order.
 *
 * @param page - Markdown.
 * @throws {Error} when a block has no closing fence.
 */
export function readCodeBlocks(page: string): CodeBlock[] {
  const lines = page.split('\n')
  const blocks: CodeBlock[] = []
  let heading = ''
  for (let at = 0; at < lines.length; at += 1) {
    heading = /^#+ (.*)$/.exec(lines[at] ?? '')?.[1] ?? heading
    const fence = FENCE.exec(lines[at] ?? '')
    if (!fence) continue
    const [, indent = '', ticks = '', language = ''] = fence
    const end = lines.findIndex((line, index) => index > at && line.trim() === ticks)
    if (end === -1) throw new Error(`The code block at line ${at + 1} has no end.`)
    const code = lines.slice(at + 1, end).map((line) => line.slice(indent.length))
    blocks.push({ language, code: code.join('\n'), line: at + 1, heading })
    at = end
  }
  return blocks
}

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
