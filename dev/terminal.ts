import pc from 'picocolors'

/** An error whose message is complete for the user. It is printed without a stack. */
export class UserError extends Error {
  override readonly name = 'UserError'
}

const isLive = () => process.stdout.isTTY && !process.env.CI
let liveText = ''

/** Prints a line above the live line. */
export function say(line = ''): void {
  const shown = liveText
  eraseLive()
  process.stdout.write(`${line}\n`)
  if (shown) drawLive(shown)
}

/** Draws the live line, which is redrawn in place. Draws nothing on a pipe. */
export function drawLive(text: string): void {
  if (!isLive()) return
  const width = (process.stdout.columns || 80) - 1
  process.stdout.write(`\r\x1b[2K${cutTo(text, width)}`)
  liveText = text
}

/** Removes the live line. */
export function eraseLive(): void {
  if (liveText) process.stdout.write('\r\x1b[2K')
  liveText = ''
}

export const sign = {
  done: pc.green('✓'),
  failed: pc.red('✗'),
  again: pc.yellow('↻'),
  busy: (at = Date.now()) => pc.cyan('⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'[Math.floor(at / 80) % 10] ?? ''),
}

/** Prints that a part is up, with its address and start time. */
export function sayDone(name: string, what: string, tookMs: number): void {
  say(`  ${sign.done} ${name.padEnd(10)} ${what} ${pc.dim(formatSeconds(tookMs))}`)
}

/** One fact of a list: a dimmed name of fixed width and its value. */
export function fact(name: string, value: string): string {
  return `  ${pc.dim(name.padEnd(20))} ${value}`
}

/** @returns Text such as `4.2 s` or `3:07 min`. */
export function formatSeconds(ms: number): string {
  if (ms < 100_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`
}

/** Prints the error that ended the command and returns the exit code. Prints a stack only for an unexpected error. */
export function printFailure(error: unknown): 1 {
  const text = error instanceof UserError ? error.message : describeUnforeseen(error)
  eraseLive()
  process.stderr.write(`\n  ${pc.red('✗')} ${text.replaceAll('\n', '\n    ')}\n\n`)
  return 1
}

/** An error of the operating system, such as a full disk, is no bug and needs no stack. */
function describeUnforeseen(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'syscall' in error ? error.message : (error.stack ?? error.message)
}

/** Cuts a text with colour codes to a number of visible characters. */
function cutTo(text: string, width: number): string {
  let visible = 0
  let cut = ''
  // eslint-disable-next-line no-control-regex -- colour codes begin with the escape character
  for (const part of text.split(/(\x1b\[[0-9;]*m)/)) {
    if (part.startsWith('\x1b')) cut += part
    else {
      cut += part.slice(0, Math.max(0, width - visible))
      visible += part.length
    }
  }
  return cut
}
