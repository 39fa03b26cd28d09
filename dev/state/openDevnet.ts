import { connect } from '../../db/client/connect.js'
import { readDevnetFile, type ContractsByChain } from '../../evm/devnetFile.js'
import { chainNames } from '../../evm/registry.js'
import { readChainMark } from '../stack/chainState.js'
import { readMark } from '../stack/database.js'
import { UserError } from '../terminal.js'
import { readJson } from './jsonFile.js'
import { assertSameSet, openHome, type StateSet } from './state.js'
import type { Facts } from '../context.js'

/** A running stack and the addresses of its contracts. */
export type Devnet = { facts: Facts; contracts: ContractsByChain }

/**
 * Opens the stack of `npm start` that runs on the state folder.
 *
 * @throws {UserError} when none runs, when the file of addresses is missing or damaged, or when the database or a chain
 *   does not hold the mark of its set.
 */
export async function openDevnet(env: NodeJS.ProcessEnv): Promise<Devnet> {
  const home = openHome(env)
  const facts = readJson<Facts>(home.facts)
  const set = readJson<StateSet>(home.set)
  const answer = facts && (await fetch(`${facts.hostUrl}/readyz`).catch(() => undefined))
  if (!facts || !set || !answer) {
    throw new UserError('No stack is up. Start one first: npm start')
  }
  // A stack that answers has marked every part, also during its first start.
  const marked = { ...set, isComplete: true }
  assertSameSet('The database', await readDatabaseMark(facts.databaseUrl), marked)
  for (const name of chainNames) {
    assertSameSet(`The chain ${name}`, await readChainMark(facts.rpcUrls[name]), marked)
  }
  return { facts, contracts: readContracts(home.contracts) }
}

function readContracts(file: string): ContractsByChain {
  try {
    return readDevnetFile(file)
  } catch (cause) {
    throw new UserError((cause as Error).message, { cause })
  }
}

async function readDatabaseMark(url: string): Promise<string | undefined> {
  const db = connect(url, 1)
  try {
    return await readMark(db)
  } finally {
    await db.destroy()
  }
}
