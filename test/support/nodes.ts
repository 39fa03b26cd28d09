import { toQuantity } from 'ethers'
import { createRegistry, type ChainName, type DevnetContracts } from '../../chains/registry.js'
import { startAnvil, type Anvil } from '../../devnet/anvil.js'
import { devnetTerms, type Terms } from '../../devnet/chains.js'
import { deployChain } from '../../devnet/deploy.js'
import { callRpc } from '../../devnet/rpc.js'
import { guardProcess } from './guard.js'
import { timed } from './seconds.js'

/** Those that nobody uses now and that are kept for the next one, of all chains together. */
const MOST_IDLE = 8
/** A node knows the states of 64 blocks, also of those that a reset has dropped. One that has mined more is stopped. */
const MOST_BLOCKS = 24

/** `giveBack`: once nobody uses it any more. */
type TakenNode = { node: Anvil; giveBack(): Promise<void> }
/** With the contracts of a chain. */
export type DeployedNode = TakenNode & { contracts: DevnetContracts }

type Start = { number: bigint; hash: string; baseFee: string }
type Kept<Contracts = unknown> = {
  key: string
  node: Anvil
  contracts: Contracts
  start: Start
  snapshot: string
  /** Blocks since the deployment, over all uses. */
  mined: number
}
type Block = { number: string; hash: string; baseFeePerGas: string }

const idle: Kept[] = []

/**
 * A node of a chain as it is after the deployment: a new one, or one that another test of this worker has given back
 * and that was reset. It mines a block for each transaction.
 */
export async function takeDeployed(
  name: ChainName,
  terms: Terms = devnetTerms[name],
): Promise<DeployedNode> {
  const key = JSON.stringify([name, terms], (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
  const { chainId } = createRegistry('testnet').get(name)
  const deploy = ({ url }: Anvil) => deployChain(name, url, terms)
  return take({ key, chainId, prepare: deploy })
}

/** The same without contracts. */
export const takeBare = (chainId: number): Promise<TakenNode> =>
  take({ key: `bare ${chainId}`, chainId, prepare: () => Promise.resolve() })

type Wanted<Contracts> = {
  key: string
  chainId: number
  prepare(node: Anvil): Promise<Contracts>
}

function take<Contracts>(wanted: Wanted<Contracts>): Promise<TakenNode & { contracts: Contracts }> {
  return timed('chain', async () => {
    const at = idle.findIndex(({ key }) => key === wanted.key)
    const found = at < 0 ? undefined : (idle.splice(at, 1)[0] as Kept<Contracts>)
    const kept = found ?? (await start(wanted))
    await setClock(kept.node)
    const { node, contracts } = kept
    let isOut = true
    return {
      ...{ node, contracts },
      async giveBack() {
        if (isOut) await keep(kept)
        isOut = false
      },
    }
  })
}

async function start<Contracts>({
  key,
  chainId,
  prepare,
}: Wanted<Contracts>): Promise<Kept<Contracts>> {
  const node = await startAnvil({ chainId })
  guardProcess(node.pid)
  const contracts = await prepare(node)
  const { number, hash } = await readBlock(node, 'latest')
  const { baseFeePerGas: baseFee } = await readBlock(node, 'pending')
  const begin = { number: BigInt(number), hash, baseFee }
  return { key, node, contracts, start: begin, snapshot: await ask(node, 'evm_snapshot'), mined: 0 }
}

/** Keeps a node for the next one. What cannot be reset is stopped. */
async function keep(kept: Kept): Promise<void> {
  const isReset = idle.length < MOST_IDLE && (await reset(kept).catch(() => false))
  if (isReset) idle.push(kept)
  else await kept.node.stop()
}

async function reset(kept: Kept): Promise<boolean> {
  const { node, start, snapshot } = kept
  const { number } = await readBlock(node, 'latest')
  kept.mined += Number(BigInt(number) - start.number)
  if (kept.mined > MOST_BLOCKS) return false
  await ask(node, 'anvil_dropAllTransactions')
  await ask(node, 'evm_setAutomine', [true])
  if (!(await ask<boolean>(node, 'evm_revert', [snapshot]))) return false
  await ask(node, 'anvil_setCoinbase', [`0x${'0'.repeat(40)}`])
  await ask(node, 'anvil_setNextBlockBaseFeePerGas', [start.baseFee])
  kept.snapshot = await ask(node, 'evm_snapshot')
  return (await readBlock(node, 'latest')).hash === start.hash
}

/** What was reset goes on from the time of its newest block. */
const setClock = (node: Anvil) =>
  ask(node, 'evm_setTime', [toQuantity(Math.floor(Date.now() / 1_000))])

const ask = <T>({ url }: Anvil, method: string, params: unknown[] = []) =>
  callRpc<T>(url, method, params)

const readBlock = (node: Anvil, tag: string) =>
  ask<Block>(node, 'eth_getBlockByNumber', [tag, false])
