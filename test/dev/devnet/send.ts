import { setTimeout as sleep } from 'node:timers/promises'
import { Interface, getCreateAddress, toQuantity } from 'ethers'
import { type ChainClient } from '../../../evm/connect.js'
import { readReceipt, type Receipt } from '../../../evm/read.js'
import { callRpc } from '../../../dev/devnet/rpc.js'
import { type Artifact } from '../../../dev/devnet/contracts/artifacts.js'
import { type ServiceError } from '../../../domain/errors.js'
import { type Call } from '../../../domain/intent/operation.js'

/** Accounts with ETH for which anvil signs. The first ones are used elsewhere. */
export const users = [
  '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
] as const

/**
 * Sends a call on a chain that mines a block per transaction. Throws with the reason when it reverts.
 */
export async function sendFrom(client: ChainClient, from: string, call: Call): Promise<Receipt> {
  // Fixed, because an estimate uses the current block, and the next one also accrues interest.
  const transaction = { from, ...call, gas: toQuantity(2_000_000) }
  const hash = await client.send<string>('eth_sendTransaction', [transaction])
  // anvil responds before it has mined.
  for (;;) {
    const receipt = await readReceipt(client, hash)
    if (receipt?.success) return receipt
    if (receipt) throw new Error(`${hash} has failed.`)
    await sleep(5)
  }
}

export async function sendAll(
  client: ChainClient,
  from: string,
  calls: Call[],
): Promise<Receipt['logs']> {
  const logs: Receipt['logs'] = []
  for (const call of calls) logs.push(...(await sendFrom(client, from, call)).logs)
  return logs
}

/** Advances the clock of a chain. */
export async function passTime(url: string, seconds: number): Promise<void> {
  await callRpc(url, 'evm_increaseTime', [seconds])
  await callRpc(url, 'evm_mine')
}

/** Deploys a contract in a block of its own. Returns its address. */
export async function deployAs(
  client: ChainClient,
  from: string,
  { artifact, args = [] }: { artifact: Artifact; args?: unknown[] },
): Promise<string> {
  const data = artifact.bytecode + new Interface(artifact.abi).encodeDeploy(args).slice(2)
  const nonce = await client.send<string>('eth_getTransactionCount', [from, 'latest'])
  const transaction = { from, data, gas: toQuantity(8_000_000) }
  const hash = await client.send<string>('eth_sendTransaction', [transaction])
  while (!(await readReceipt(client, hash))) await sleep(5)
  return getCreateAddress({ from, nonce: Number(nonce) })
}

/** The return data of a call that reverts. */
export async function refusalOf(client: ChainClient, from: string, call: Call): Promise<unknown> {
  return client.send('eth_call', [{ from, ...call }, 'latest']).then(
    () => 'It was taken.',
    (error: ServiceError) => error.details.data,
  )
}
