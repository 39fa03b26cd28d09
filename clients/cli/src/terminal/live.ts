import type { Output } from './io.js'

/** Lines at the bottom of a terminal, redrawn in place. */
export type Live = { draw(lines: readonly string[]): void; clear(): void }

/** Draws nothing when the output is not a terminal. */
export function createLive(output: Output): Live {
  let drawn = 0
  const clear = () => {
    // Moves the cursor up to the first drawn line and erases everything below.
    if (drawn > 0) output.write(`\x1b[${drawn}A\r\x1b[J`)
    drawn = 0
  }
  return {
    clear,
    draw(lines) {
      if (!output.isTerminal) return
      const { columns, rows } = output.size()
      // Lines that have scrolled out of the terminal cannot be redrawn.
      const fitting = lines.slice(-Math.max(1, rows - 1))
      clear()
      output.write(fitting.map((line) => `${cutTo(line, columns - 1)}\n`).join(''))
      drawn = fitting.length
    },
  }
}

const frames = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'

export const spinner = (at = Date.now()): string =>
  frames[Math.floor(at / 80) % frames.length] ?? ''

/** Cuts a text with colour codes to `width` visible characters. */
function cutTo(text: string, width: number): string {
  let visible = 0
  let cut = ''
  // eslint-disable-next-line no-control-regex -- colour codes begin with the escape character
  for (const part of text.split(/(\x1b\[[0-9;]*m)/)) {
    if (part.startsWith('\x1b[')) cut += part
    else {
      cut += part.slice(0, Math.max(0, width - visible))
      visible += part.length
    }
  }
  return cut
}
