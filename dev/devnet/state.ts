import { constants } from 'node:buffer'
import * as fs from 'node:fs'

type Block = { header: { number: string }; transactions: unknown[] }
type State = { best_block_number: number; blocks: Block[] }

/** Newest blocks that are kept: as far back as a contract can read block hashes. */
const KEPT_BLOCKS = 256

/** Longer than a dump takes to write. */
const QUIET_MS = 500
const COPY_EVERY_MS = 1_000

/**
 * Makes a state file fit to start from. anvil overwrites the file in place, so a node that was killed
 * while writing leaves a torn one: then the copy of `keepStateCopies` takes its place. Empty old
 * blocks are dropped, for anvil keeps every block for ever (1.6 kB each, 23 MB an hour at 0.25 s).
 * A file that is too large to be read here, after some 15,000 lends, stays as it is: anvil reads it.
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
  throw new Error(`The devnet's state ${stateFile} is damaged. Delete ${stateFile}* to start anew.`)
}

/**
 * Moves each finished dump of a running node aside, so that a kill in the middle of the next one
 * costs no more than one interval. Moving is enough: the node creates its file anew.
 *
 * @returns Stops it.
 */
export function keepStateCopies(stateFile: string): () => void {
  const timer = setInterval(() => {
    if (!isFinished(stateFile)) return
    // A file that is gone in between, with its folder, is no reason to end: nothing needs it then.
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

/** As far as its end tells. */
function isWhole(file: string): boolean {
  const { size } = fs.statSync(file)
  if (size === 0) return false
  const handle = fs.openSync(file, 'r')
  const lastByte = Buffer.alloc(1)
  fs.readSync(handle, lastByte, 0, 1, size - 1)
  fs.closeSync(handle)
  return lastByte.toString() === '}'
}

function readState(file: string): State | undefined {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')) as State
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Blocks with transactions stay, since receipts need them; so does the first, the chain's identity. */
function dropOldBlocks(state: State): State {
  const oldest = state.best_block_number - KEPT_BLOCKS
  const blocks = state.blocks.filter(({ header, transactions }) => {
    const number = Number(header.number)
    return number === 0 || number > oldest || transactions.length > 0
  })
  return { ...state, blocks }
}
