/** A fenced block of a page. */
export type CodeBlock = {
  /** Empty when the fence names no language. */
  language: string
  code: string
  /** Line of the opening fence, from 1. */
  line: number
  /** Line of the closing fence. */
  end: number
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
    blocks.push({ language, code: code.join('\n'), line: at + 1, end: end + 1, heading })
    at = end
  }
  return blocks
}
