import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { chainFacts, pricing } from '../../evm/registry.js'
import { startAnvil } from '../../dev/devnet/anvil.js'
import { devnetTerms } from '../../dev/devnet/chains.js'
import { startFront } from '../../dev/devnet/rollup/front.js'
import { callRpc } from '../../dev/devnet/rpc.js'
import { LEND_CHAIN } from '../crowd.js'
import { readCpu, readMemory, spent, sum } from '../usage.js'
import type { Answered } from '../callers.js'
import type { BaselineRun } from './baselineWorker.js'
import type { BaselineInput } from './baselineWorkflow.js'
import type { StackFacts } from '../../test/e2e/stack.js'

const POLL_MS = 50

/** The chain before a crowd. */
type RestorePoint = { state: string; block: number }
export type BaselineResult = { seconds: number; cpuSeconds: number; workerMb: number; sent: number }

/**
 * The same load without Steward: as many empty workflows on the same Temporal server, and the same transactions, sent
 * by a script to a copy of the chain.
 */
export async function openBaseline({ temporalAddress, rpcUrls, pids }: StackFacts) {
  const taskQueue = `baseline-${Date.now()}`
  const url = rpcUrls[LEND_CHAIN] ?? ''
  const worker = await startWorker(temporalAddress, taskQueue)
  let runs = 0
  return {
    /** Takes a snapshot of the chain before a crowd. */
    async mark(): Promise<RestorePoint> {
      return { state: await callRpc<string>(url, 'anvil_dumpState'), block: await readHead(url) }
    },
    /** Repeats a crowd that began at a snapshot. */
    async run(posts: Answered[], mark: RestorePoint): Promise<BaselineResult> {
      const raws = await readTransactions(url, mark.block)
      const copy = await startCopy(mark.state)
      const measured = { temporal: pids.temporal, worker: worker.pid ?? 0, node: copy.pid }
      try {
        const [before, begun] = [readCpu(measured), performance.now()]
        const ended = once(worker, 'message')
        const prefix = `${taskQueue}-${++runs}`
        worker.send({ prefix, inputs: toInputs(posts) } satisfies BaselineRun)
        await Promise.all([ended, sendAll(copy.url, raws)])
        const seconds = (performance.now() - begun) / 1_000
        const cpuSeconds = sum(Object.values(spent(before, readCpu(measured))))
        const workerMb = readMemory(measured).worker ?? NaN
        return { seconds, cpuSeconds, workerMb, sent: raws.length }
      } finally {
        await copy.stop()
      }
    },
    async stop(): Promise<void> {
      worker.kill('SIGTERM')
      await once(worker, 'exit')
    },
  }
}

async function startWorker(address: string, taskQueue: string): Promise<ChildProcess> {
  const file = fileURLToPath(new URL('baselineWorker.ts', import.meta.url))
  const worker = fork(file, [address, taskQueue], { execArgv: ['--import', 'tsx'] })
  await once(worker, 'message')
  return worker
}

type BaselinePlan = { steps: { type: string }[] }

/** An intent without a stored plan counts with the plan of another intent. */
function toInputs(posts: Answered[]): BaselineInput[] {
  const plans = posts.map(({ body }) => body.executionPlan as BaselinePlan | undefined)
  const usual = plans.find((plan) => plan !== undefined)
  if (!usual) throw new Error('No lend of the crowd was planned at creation.')
  return posts.map(({ body }, i) => {
    const plan = plans[i] ?? usual
    const steps = plan.steps.map(({ type }) => type)
    return { intentId: String(body.id), walletId: String(body.walletId), steps, plan }
  })
}

const readHead = async (url: string) => Number(await callRpc<string>(url, 'eth_blockNumber'))

/** Raw bytes of all transactions after a block, in chain order. */
async function readTransactions(url: string, after: number): Promise<string[]> {
  const raws: string[] = []
  for (let n = after + 1, head = await readHead(url); n <= head; n++) {
    const params = [`0x${n.toString(16)}`, false]
    const block = await callRpc<{ transactions: string[] }>(url, 'eth_getBlockByNumber', params)
    for (const hash of block.transactions) {
      raws.push(await callRpc<string>(url, 'eth_getRawTransactionByHash', [hash]))
    }
  }
  return raws
}

async function startCopy(state: string) {
  const { blockSeconds: blockTimeSeconds, baseFeeWei } = devnetTerms[LEND_CHAIN]
  const node = await startAnvil({
    ...{ chainId: chainFacts[LEND_CHAIN].chainId, blockTimeSeconds, baseFeeWei },
    ...{ mining: 'tended', takesAnySize: true },
  })
  await callRpc(node.url, 'anvil_loadState', [state])
  const { rollup: kind } = pricing[LEND_CHAIN]
  const front = kind && (await startFront({ kind, target: node.url }))
  return {
    pid: node.pid,
    url: front?.url ?? node.url,
    async stop() {
      await front?.stop()
      await node.stop()
    },
  }
}

/** Sends in sequence and waits until each transaction is mined. */
async function sendAll(url: string, raws: string[]): Promise<void> {
  const hashes: string[] = []
  for (const raw of raws) hashes.push(await callRpc<string>(url, 'eth_sendRawTransaction', [raw]))
  for (const hash of hashes) {
    while (!(await isMined(url, hash))) await sleep(POLL_MS)
  }
}

async function isMined(url: string, hash: string): Promise<boolean> {
  const params = [hash]
  const receipt = await callRpc<{ status: string } | null>(url, 'eth_getTransactionReceipt', params)
  if (receipt && receipt.status !== '0x1') throw new Error(`${hash} has failed on the copy.`)
  return receipt !== null
}
