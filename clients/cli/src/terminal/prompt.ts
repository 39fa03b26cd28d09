import { CommandError, exitCodes, misused } from '../exit.js'
import type { Io } from './io.js'

const RETURN = ['\r', '\n']
const BACKSPACE = ['\x7f', '\b']
const CTRL_C = '\x03'
const CTRL_D = '\x04'

/**
 * Asks for a line without echoing it.
 *
 * @throws {CommandError} without a terminal, or when Ctrl-C was pressed.
 */
export async function askSecret(io: Io, question: string): Promise<string> {
  const { input, err, interrupted } = io
  if (!input.isTTY)
    throw misused('Standard input is not a terminal. Pipe the key with --key-stdin.')
  // Echo is off before the question appears, so that fast typing is hidden too.
  input.setRawMode(true).resume().setEncoding('utf8')
  err.write(question)
  try {
    return await readHidden(input, interrupted)
  } finally {
    input.setRawMode(false).pause()
    err.write('\n')
  }
}

function readHidden(input: NodeJS.ReadStream, interrupted: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let typed = ''
    const end = (settle: () => void) => {
      input.off('data', readChunk)
      interrupted.removeEventListener('abort', cut)
      settle()
    }
    const cut = () => {
      end(() => reject(new CommandError(exitCodes.interrupted, '')))
    }
    // Pasted text arrives in one chunk, possibly with the return key.
    const readChunk = (chunk: string) => {
      for (const key of chunk) {
        if (key === CTRL_C) return cut()
        if (RETURN.includes(key) || key === CTRL_D) return end(() => resolve(typed.trim()))
        typed = BACKSPACE.includes(key) ? typed.slice(0, -1) : typed + key
      }
    }
    input.on('data', readChunk)
    interrupted.addEventListener('abort', cut)
  })
}

/** Asks a question. Only `y` or `yes` confirms. */
export async function confirm({ input, err, interrupted }: Io, question: string): Promise<boolean> {
  err.write(`${question} [y/N] `)
  const answer = await readLine(input, interrupted)
  return /^y(es)?$/i.test(answer.trim())
}

async function readLine(input: NodeJS.ReadStream, signal: AbortSignal): Promise<string> {
  const { createInterface } = await import('node:readline')
  const lines = createInterface({ input })
  const cut = () => {
    lines.close()
  }
  signal.addEventListener('abort', cut)
  try {
    for await (const line of lines) return line
    return ''
  } finally {
    signal.removeEventListener('abort', cut)
    lines.close()
  }
}

/** The text of standard input, at most 4,096 characters. */
export async function readSecret({ input }: Io): Promise<string> {
  const LONGEST = 4_096
  let text = ''
  input.setEncoding('utf8')
  for await (const chunk of input) {
    text += String(chunk)
    if (text.length > LONGEST)
      throw misused('Standard input is longer than an API key. Pipe only the key.')
  }
  return text.trim()
}
