import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { readCpu, spent, type Cpu } from './usage.js'
import { chainFacts, pricing, type ChainName } from '../chains/registry.js'
import { startAnvil, type Anvil } from '../devnet/anvil.js'
import { devnetTerms } from '../devnet/chains.js'
import { startFront, type Front } from '../devnet/rollup/front.js'
import { callRpc } from '../devnet/rpc.js'
import type { Db } from '../db/connection/connect.js'
import type { ExecuteIntentInput } from '../workflows/executeIntent.js'
import type { Facts } from '../test/e2e/stack.js'
import type { TwinRun } from './twinWorker.js'
import type { TwinInput } from './twinWorkflow.js'

const POLL_MS = 50
/** Signed bytes of one chain in the order in which they were signed. */
type Bundles = { chainId: number; raws: string[] }
type Copy = { name: ChainName; url: string; node: Anvil; front: Front | undefined }

export type TwinResult = { perSecond: number; seconds: number; bundles: number; cpu: Cpu }

/** What runs beside the stack. */
export type Twin = Awaited<ReturnType<typeof openTwin>>

/** A run of the stack, with all its processes. */
type Ran = { db: Db; pids: Record<string, number>; since: number }

/** What a chain was before anything of the run was sent. */
export type Dump = { name: ChainName; state: string }

export async function dumpChains(rpcUrls: Record<string, string>): Promise<Dump[]> {
  const names = Object.keys(rpcUrls) as ChainName[]
  return Promise.all(
    names.map(async (name) => {
      const state = await callRpc<string>(rpcUrls[name] ?? '', 'anvil_dumpState')
      return { name, state }
    }),
  )
}

/**
 * The same number of workflows that do nothing, on the same server, and the very bundles of a run, sent by a script to
 * copies of the chains as they were before it: what is left when nothing is ours. Its worker serves until `stop`, so
 * that its code is compiled as far as ours is.
 */
export async function openTwin({ temporalAddress }: Facts) {
  const taskQueue = `twin-${Date.now()}`
  const worker = await startWorker(temporalAddress, taskQueue)
  let runs = 0
  const runAll = async (twins: TwinInput[]) => {
    const ended = untilEnded(worker, twins.length)
    worker.send({ prefix: `${taskQueue}-${++runs}`, twins } satisfies TwinRun)
    await ended
  }
  return {
    /** The workflows of a run, unmeasured. */
    warmUp: async ({ db, since }: Ran) => runAll(await readInputs(db, since)),
    run: async (ran: Ran, dumps: Dump[]): Promise<TwinResult> => {
      const inputs = await readInputs(ran.db, ran.since)
      const bundles = await readBundles(ran.db, ran.since)
      const used = dumps.filter(({ name }) => bundlesOf(bundles, name))
      const copies = await Promise.all(used.map(startCopy))
      try {
        const pids: Record<string, number> = { ...ran.pids, 'twin worker': worker.pid ?? 0 }
        for (const { name, node } of copies) pids[`copy ${name}`] = node.pid
        const [before, begun] = [readCpu(pids), performance.now()]
        await Promise.all([
          runAll(inputs),
          ...copies.map(({ name, url }) => sendAll(url, bundlesOf(bundles, name)?.raws ?? [])),
        ])
        const seconds = (performance.now() - begun) / 1_000
        const count = bundles.reduce((total, { raws }) => total + raws.length, 0)
        const cpu = spent(before, readCpu(pids))
        return { perSecond: inputs.length / seconds, seconds, bundles: count, cpu }
      } finally {
        for (const { node, front } of copies) {
          await front?.stop()
          await node.stop()
        }
      }
    },
    stop: async (): Promise<void> => {
      worker.kill('SIGTERM')
      await once(worker, 'exit')
    },
  }
}

const bundlesOf = (bundles: Bundles[], name: ChainName) =>
  bundles.find(({ chainId }) => chainId === chainFacts[name].chainId)

async function startWorker(address: string, taskQueue: string): Promise<ChildProcess> {
  const file = fileURLToPath(new URL('twinWorker.ts', import.meta.url))
  const worker = fork(file, [address, taskQueue], { execArgv: ['--import', 'tsx'] })
  await once(worker, 'message')
  return worker
}

function untilEnded(worker: ChildProcess, count: number): Promise<void> {
  return new Promise((resolve) => {
    let ended = 0
    const hear = () => {
      if (++ended < count) return
      worker.off('message', hear)
      resolve()
    }
    worker.on('message', hear)
  })
}

async function startCopy({ name, state }: Dump): Promise<Copy> {
  const { chainId } = chainFacts[name]
  const { blockSeconds: blockTimeSeconds, baseFeeWei } = devnetTerms[name]
  const options = { chainId, blockTimeSeconds, baseFeeWei, mining: 'tended' } as const
  const node = await startAnvil({ ...options, takesAnySize: true })
  await callRpc(node.url, 'anvil_loadState', [state])
  const { rollup: kind } = pricing[name]
  const front = kind && (await startFront({ kind, target: node.url }))
  return { name, node, front, url: front?.url ?? node.url }
}

/** What the workflow of each intent was given, and the names of its activities. */
async function readInputs(db: Db, since: number): Promise<TwinInput[]> {
  const rows = await db('intent')
    .where('created_at', '>=', new Date(since))
    .select<
      { id: string; account_id: string; wallet_id: string; plan: ExecuteIntentInput['plan'] }[]
    >(['id', 'account_id', 'wallet_id', 'plan'])
  return rows.map(({ id, account_id: accountId, wallet_id: walletId, plan }) => {
    const steps = (plan?.steps ?? []).flatMap(({ type }) =>
      type === 'bridge' ? ['bridge', 'awaitAttestation', 'mint'] : [type],
    )
    return { steps, intent: { intentId: id, accountId, walletId, ...(plan && { plan }) } }
  })
}

async function readBundles(db: Db, since: number): Promise<Bundles[]> {
  const rows = await db('chain_tx as t')
    .join('chain_tx_send as s', (join) => {
      join.on('s.tx_id', 't.id').andOn('s.n', 't.mined_send')
    })
    .where('t.created_at', '>=', new Date(since))
    .orderBy('t.id')
    .select<{ chain_id: bigint; raw: string }[]>('t.chain_id', 's.raw')
  const ids = [...new Set(rows.map((row) => Number(row.chain_id)))]
  return ids.map((chainId) => ({
    chainId,
    raws: rows.filter((row) => Number(row.chain_id) === chainId).map(({ raw }) => raw),
  }))
}

/** Sends one after the other and waits until each is mined. */
async function sendAll(url: string, raws: string[]): Promise<void> {
  const hashes: string[] = []
  for (const raw of raws) hashes.push(await callRpc<string>(url, 'eth_sendRawTransaction', [raw]))
  for (const hash of hashes) {
    for (;;) {
      const receipt = await callRpc<{ status: string } | null>(url, 'eth_getTransactionReceipt', [
        hash,
      ])
      if (receipt && receipt.status !== '0x1') throw new Error(`${hash} has failed on the copy.`)
      if (receipt) break
      await sleep(POLL_MS)
    }
  }
}
