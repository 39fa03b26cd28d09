import { constants } from 'node:buffer'
import * as fs from 'node:fs'

type StateBlock = { header: { number: string }; transactions: unknown[] }
type DumpedState = { best_block_number: number; blocks: StateBlock[] }

/** Number of newest blocks to keep: as far back as a contract can read block hashes. */
const KEPT_BLOCKS = 256

/** Longer than a dump takes to write. */
const QUIET_MS = 500
const COPY_EVERY_MS = 1_000

/**
 * Prepares a state file for a start. anvil overwrites the file in place, so a node killed during a write leaves a
 * partial file. The copy of `keepStateCopies` then replaces it. Empty old blocks are dropped, because anvil keeps
 * every block (1.6 kB each, 23 MB per hour at 0.25 s). A file that is too large to parse here, after about 15,000
 * lends, stays unchanged.
 *
 * @throws Error when neither the file nor its copy can be read.
 */
export function prepareState(stateFile: string): void {
  const copy = copyOf(stateFile)
  const present = [stateFile, copy].filter((file) => fs.existsSync(file))
  if (present.length === 0) return
  for (const file of present) {
    if (isTooLarge(file)) {
      if (!isWhole(file)) continue
      fs.renameSync(file, stateFile)
    } else {
      const state = readState(file)
      if (!state) continue
      const draft = `${stateFile}.draft`
      fs.writeFileSync(draft, JSON.stringify(dropOldBlocks(state)))
      fs.renameSync(draft, stateFile)
    }
    fs.rmSync(copy, { force: true })
    return
  }
  throw new Error(
    `The devnet's state ${stateFile} is damaged. Delete ${stateFile}* to start from an empty chain.`,
  )
}

/**
 * Moves each finished dump of a running node aside, so that a kill during the next dump loses at most one interval.
 * The node then recreates its file.
 *
 * @returns Stops it.
 */
export function keepStateCopies(stateFile: string): () => void {
  const timer = setInterval(() => {
    if (!isFinished(stateFile)) return
    // A missing file or folder is no error here: no process needs it then.
    fs.promises.rename(stateFile, copyOf(stateFile)).catch(() => undefined)
  }, COPY_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}

function copyOf(stateFile: string): string {
  return `${stateFile}.last`
}

function isFinished(file: string): boolean {
  const status = fs.statSync(file, { throwIfNoEntry: false })
  return status !== undefined && Date.now() - status.mtimeMs >= QUIET_MS && isWhole(file)
}

const isTooLarge = (file: string) => fs.statSync(file).size > constants.MAX_STRING_LENGTH

/** Judged by the end of the file. */
function isWhole(file: string): boolean {
  const { size } = fs.statSync(file)
  if (size === 0) return false
  const handle = fs.openSync(file, 'r')
  const lastByte = Buffer.alloc(1)
  fs.readSync(handle, lastByte, 0, 1, size - 1)
  fs.closeSync(handle)
  return lastByte.toString() === '}'
}

function readState(file: string): DumpedState | undefined {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')) as DumpedState
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Keeps blocks with transactions, for receipts, and the first block, which identifies the chain. */
function dropOldBlocks(state: DumpedState): DumpedState {
  const oldest = state.best_block_number - KEPT_BLOCKS
  const blocks = state.blocks.filter(({ header, transactions }) => {
    const number = Number(header.number)
    return number === 0 || number > oldest || transactions.length > 0
  })
  return { ...state, blocks }
}
