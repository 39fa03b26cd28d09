import { setTimeout as sleep } from 'node:timers/promises'
import { toQuantity } from 'ethers'
import { createRegistry, type ChainName, type DevnetContracts } from '../../evm/registry.js'
import { startAnvil, type Anvil } from '../../dev/devnet/anvil.js'
import { devnetTerms, type Terms } from '../../dev/devnet/chains.js'
import { deployChain } from '../../dev/devnet/deploy.js'
import { callRpc } from '../../dev/devnet/rpc.js'
import { timed } from './run/seconds.js'

/** Released nodes that a worker keeps, over all chains. */
const MOST_IDLE = 8
/** A node keeps the states of 64 blocks, dropped ones included. A node that has mined more is stopped. */
const MOST_BLOCKS = 24

/** `release`: call after the last use. */
type TakenNode = { node: Anvil; release(): Promise<void> }
/** With the contracts of a chain. */
export type DeployedNode = TakenNode & { contracts: DevnetContracts }

type StartBlock = { number: bigint; hash: string; baseFee: string }
type Kept<Contracts = unknown> = {
  key: string
  node: Anvil
  contracts: Contracts
  start: StartBlock
  snapshot: string
  /** Blocks since the deployment, over all uses. */
  mined: number
}
type ChainHead = { number: string; hash: string; baseFeePerGas: string }

type Wanted<Contracts> = {
  key: string
  chainId: number
  prepare(node: Anvil): Promise<Contracts>
}

/** A pool of nodes. It resets a released node for the next test. */
export function createNodePool() {
  const idle: Kept[] = []

  function take<Contracts>(
    wanted: Wanted<Contracts>,
  ): Promise<TakenNode & { contracts: Contracts }> {
    return timed('chain', async () => {
      const at = idle.findIndex(({ key }) => key === wanted.key)
      const found = at < 0 ? undefined : (idle.splice(at, 1)[0] as Kept<Contracts>)
      const kept = found ?? (await start(wanted))
      await setClock(kept.node)
      const { node, contracts } = kept
      let isTaken = true
      return {
        ...{ node, contracts },
        async release() {
          if (isTaken) await keep(kept)
          isTaken = false
        },
      }
    })
  }

  /** Keeps a released node. A node that cannot be reset is stopped. */
  async function keep(kept: Kept): Promise<void> {
    const isReset = idle.length < MOST_IDLE && (await reset(kept).catch(() => false))
    if (isReset) idle.push(kept)
    else await kept.node.stop()
  }

  return {
    /** A new or reset node of a chain as it is after the deployment. It mines a block for each transaction. */
    takeDeployed(name: ChainName, terms: Terms = devnetTerms[name]): Promise<DeployedNode> {
      const key = JSON.stringify([name, terms], (_, value: unknown) =>
        typeof value === 'bigint' ? value.toString() : value,
      )
      const { chainId } = createRegistry('testnet').get(name)
      const deploy = ({ url }: Anvil) => deployChain(name, url, terms)
      return take({ key, chainId, prepare: deploy })
    },

    /** A new or reset node without contracts. */
    takeBare: (chainId: number): Promise<TakenNode> =>
      take({ key: `bare ${chainId}`, chainId, prepare: () => Promise.resolve() }),
  }
}

/** The pool of this worker. */
export const { takeDeployed, takeBare } = createNodePool()

async function start<Contracts>({
  key,
  chainId,
  prepare,
}: Wanted<Contracts>): Promise<Kept<Contracts>> {
  const node = await startAnvil({ chainId })
  const contracts = await mineUntilDone(node, () => prepare(node))
  const { number, hash } = await readBlock(node, 'latest')
  const { baseFeePerGas: baseFee } = await readBlock(node, 'pending')
  const begin = { number: BigInt(number), hash, baseFee }
  return { key, node, contracts, start: begin, snapshot: await ask(node, 'evm_snapshot'), mined: 0 }
}

/**
 * Mines by call until the work is done and its last transaction is in a block. Automine queues a block for each
 * transaction, and under load adds empty blocks long after the last one.
 */
async function mineUntilDone<Result>(node: Anvil, work: () => Promise<Result>): Promise<Result> {
  let isDone = false
  await ask(node, 'evm_setAutomine', [false])
  const result = work().finally(() => (isDone = true))
  // Its failure is reported below.
  result.catch(() => undefined)
  for (;;) {
    const wasDone = isDone
    const { pending } = await ask<{ pending: string }>(node, 'txpool_status')
    if (BigInt(pending) > 0n) await ask(node, 'evm_mine')
    else if (wasDone) break
    else await sleep(5)
  }
  await ask(node, 'evm_setAutomine', [true])
  return result
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

/** A reset node continues from the time of its newest block. */
const setClock = (node: Anvil) =>
  ask(node, 'evm_setTime', [toQuantity(Math.floor(Date.now() / 1_000))])

const ask = <T>({ url }: Anvil, method: string, params: unknown[] = []) =>
  callRpc<T>(url, method, params)

const readBlock = (node: Anvil, tag: string) =>
  ask<ChainHead>(node, 'eth_getBlockByNumber', [tag, false])
