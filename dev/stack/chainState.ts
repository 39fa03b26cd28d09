import * as fs from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { type ChainName } from '../../evm/registry.js'
import { callRpc } from '../devnet/rpc.js'
import { UserError } from '../terminal.js'

/** Address whose code holds the id of the set. The id is stored and lost together with the chain. */
const MARK_ADDRESS = '0x00000000000000000000000000000000005e7a3d'

/** Native balance in wei. */
export async function readEthBalance(url: string, owner: string): Promise<bigint> {
  return BigInt(await callRpc<string>(url, 'eth_getBalance', [owner, 'latest']))
}

/** Balance of an ERC-20 token in base units. */
export async function readTokenBalance(url: string, token: string, owner: string): Promise<bigint> {
  const balanceOf = `0x70a08231${owner.slice(2).toLowerCase().padStart(64, '0')}`
  const result = await callRpc<string>(url, 'eth_call', [{ to: token, data: balanceOf }, 'latest'])
  return result === '0x' ? 0n : BigInt(result)
}

/**
 * Checks a node from outside: it must serve the right chain and be an anvil node. Contracts and accounts are set up
 * by anvil's own methods.
 */
export async function checkOutsideNode(
  name: ChainName,
  chainId: number,
  variable: string,
  url: string,
): Promise<void> {
  const host = URL.canParse(url) ? new URL(url).host : 'an invalid URL'
  const answers = Promise.all([
    callRpc<string>(url, 'eth_chainId'),
    callRpc<string>(url, 'web3_clientVersion'),
  ])
  const [answered, client] = await answers.catch((cause: unknown) => {
    throw new UserError(`${variable} (${host}) does not answer. Start it, or unset ${variable}.`, {
      cause,
    })
  })
  if (Number(answered) !== chainId) {
    throw new UserError(
      `${variable} (${host}) is chain ${Number(answered)}, but ${name} is ${chainId}. ` +
        `Point it at the right chain, or unset ${variable}.`,
    )
  }
  if (!/^anvil/i.test(client)) {
    throw new UserError(
      `${variable} (${host}) is ${client}, not an anvil. npm start deploys its contracts and money ` +
        `on development chains only. Point it at an anvil, or unset ${variable}.`,
    )
  }
}

/** Id of the chain's set; undefined when the chain belongs to none. */
export async function readChainMark(url: string): Promise<string | undefined> {
  const code = await callRpc<string>(url, 'eth_getCode', [MARK_ADDRESS, 'latest'])
  return code === '0x' ? undefined : code.slice(2)
}

/** @param id - Hexadecimal. */
export async function markChain(url: string, id: string): Promise<void> {
  await callRpc(url, 'anvil_setCode', [MARK_ADDRESS, `0x${id}`])
}

/**
 * Prepares a node of ours after its start.\n\nAfter a restart from its state file a node has only its last state. It
 * rejects reads of the finalized block, which the signer needs, until that block is new too. That takes 15 s of block
 * time, or this many blocks at once (20 ms, without moving the clock). The blocks are final then, so they must be on
 * disk: a killed node that restarts without them would undo final blocks.
 */
export async function settleChain(url: string, stateFile: string): Promise<void> {
  await callRpc(url, 'anvil_mine', [KEPT_STATES])
  const dump = await callRpc<string>(url, 'anvil_dumpState')
  const draft = `${stateFile}.settled`
  fs.writeFileSync(draft, gunzipSync(Buffer.from(dump.slice(2), 'hex')))
  fs.renameSync(draft, stateFile)
}

/** The number of states that a node keeps, which exceeds the finality depth. */
const KEPT_STATES = '0x40'
