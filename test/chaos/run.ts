import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Interface, JsonRpcProvider, toQuantity } from 'ethers'
import { readDevnetFile, type ContractsByChain } from '../../evm/devnetFile.js'
import { chainFacts, rpcVariable, type ChainName } from '../../evm/registry.js'
import { connect, type Db } from '../../db/client/connect.js'
import { grantCredits } from '../../db/accounts/accounts.js'
import { deployChain, devnetOwner } from '../../dev/devnet/deploy.js'
import { startIris } from '../../dev/devnet/iris/iris.js'
import { callRpc } from '../../dev/devnet/rpc.js'
import { createHome, removeHome, startStack, type Stack } from '../e2e/stack.js'
import { runAudit } from '../../admin/audit/auditCommand.js'
import { startAttestationProxy } from './attesting.js'
import { startStormyChains, type Shakes, type StormyChains } from './chains.js'
import { createPatientClient, useWallet, type Notes, type ChaosWallet } from './clients.js'
import { drawsOf } from './draws.js'
import { killOn, type Kills } from './killing.js'
import { judge, type OpenIntent, type ChaosVerdict } from './verdict.js'

/** USDC on each chain for each wallet. */
const ENDOWMENT = 60_000_000n
/**
 * Deeper than the deepest reorg: on real networks an attested burn never disappears. Otherwise Circle would bear the
 * loss.
 */
const ATTESTED_AFTER = { fast: 10, standard: 16 }
/** On a slow machine a storm lasts at most this many times longer. */
const LONGER = 4
const token = new Interface(['function mint(address to, uint256 amount) returns (bool)'])

export type Storm = {
  seed: string
  stormMs: number
  /** The storm continues until this many intents were created, within its time limit. */
  leastIntents: number
  /** Time for open intents to finish afterwards. */
  calmMs: number
  wallets: number
  killEveryMs: number
  outageEveryMs: number
  say(line: string): void
}

export type ChaosReport = {
  seed: string
  intents: { ordered: number; byStatus: Record<string, number> }
  kills: Kills
  shakes: Shakes
  faults: Record<string, number>
  /** `audit`: all differences between rows, chains and Temporal. */
  verdict: ChaosVerdict & { audit: string[] }
}

/** Runs a whole stack through a storm and checks the money afterwards. */
export async function runStorm(storm: Storm): Promise<ChaosReport> {
  const { seed, say } = storm
  const home = await createHome()
  const chains = await startStormyChains(seed)
  const contracts = await deployAll(chains)
  const iris = await startIris({
    chains: chains.list.map(({ name, nodeUrl: rpcUrl }) => {
      const { messageTransmitter: transmitter } = contracts[name]
      return { domain: chainFacts[name].domain, rpcUrl, transmitter }
    }),
    port: 0,
    confirmations: ATTESTED_AFTER,
  })
  const attestations = await startAttestationProxy(iris.url)
  const urls = chains.list.map(({ name, urls: all }) => [rpcVariable(name), all.join()])
  const env = { ...Object.fromEntries(urls), ATTESTATION_URL: attestations.url }
  const stack = await startStack(home, env as NodeJS.ProcessEnv)
  say('the stack is up')
  const db = connect(stack.facts.databaseUrl, 2)
  try {
    return await rage(storm, { home, chains, attestations, stack, db })
  } finally {
    await db.destroy()
    await stack.stop()
    await attestations.stop()
    await iris.stop()
    await chains.stop()
    removeHome(home)
  }
}

type ChaosRun = {
  home: string
  chains: StormyChains
  attestations: Awaited<ReturnType<typeof startAttestationProxy>>
  stack: Stack
  db: Db
}

async function rage(storm: Storm, scene: ChaosRun): Promise<ChaosReport> {
  const { seed, stormMs, leastIntents, calmMs, killEveryMs, say } = storm
  const { chains, attestations, stack, db } = scene
  const notes: Notes = { ordered: [], refused: [], faults: [], tries: 0 }
  const call = createPatientClient(stack.facts, notes)
  const accounts = await db('account').update({ rpm: 1_000_000 }).returning<{ id: string }[]>('id')
  for (const { id } of accounts) await grantCredits(db, id, { credits: 1_000_000 })
  const wallets = await createWallets(storm.wallets, call, scene)
  await chains.settle()
  say(`${wallets.length} wallets have money; the storm begins`)

  const begun = performance.now()
  const isRaging = () => {
    const ms = performance.now() - begun
    return ms < stormMs || (ms < LONGER * stormMs && notes.ordered.length < leastIntents)
  }
  const over = new AbortController()
  chains.begin()
  attestations.set(drawsOf(seed, 'attestations'))
  const clients = wallets.map((wallet) => useWallet(call, wallet, { seed, isRaging, notes }))
  const killing = killOn(stack, drawsOf(seed, 'kills'), { isRaging, everyMs: killEveryMs })
  const outages = cutOffAgainAndAgain(storm, chains, over.signal)
  while (isRaging()) {
    await sleep(Math.min(10_000, Math.max(stormMs - (performance.now() - begun), 1_000)))
    say(`${notes.ordered.length} intents, reorgs ${chains.shakes.reorgs.length}`)
  }
  over.abort()
  chains.calm()
  attestations.set(undefined)
  const kills = await killing
  await outages
  say('the storm is over')
  await Promise.all(clients)
  const open = await waitUntilOver(db, Date.now() + calmMs)
  say(`${open.length} intents are open`)
  await chains.settle()
  const seen = await judge({ db, nodes: readNodes(scene), wallets, notes, open })
  say('rows, chains and Temporal are compared')
  const verdict = { ...seen, audit: await auditAll(scene) }
  const intents = { ordered: notes.ordered.length, byStatus: await countByStatus(db) }
  const faults = { ...chains.countFaults(), ...named('attestation', attestations.counts) }
  return { seed, intents, kills, shakes: chains.shakes, faults, verdict }
}

const named = (prefix: string, counts: Record<string, number>) =>
  Object.fromEntries(Object.entries(counts).map(([kind, count]) => [`${prefix} ${kind}`, count]))

async function deployAll(chains: StormyChains): Promise<ContractsByChain> {
  const all = await Promise.all(
    chains.list.map(async ({ name, nodeUrl }) => [name, await deployChain(name, nodeUrl)] as const),
  )
  return Object.fromEntries(all) as ContractsByChain
}

function readNodes({ home, chains }: ChaosRun) {
  const contracts = readDevnetFile(join(home, 'devnet.json'))
  const nodes = chains.list.map(({ name, nodeUrl: url }) => {
    const provider = new JsonRpcProvider(url, undefined, { cacheTimeout: -1 })
    return [name, { url, provider, contracts: contracts[name] }] as const
  })
  return Object.fromEntries(nodes) as Record<ChainName, (typeof nodes)[number][1]>
}

async function createWallets(
  count: number,
  call: ReturnType<typeof createPatientClient>,
  { home, chains }: ChaosRun,
): Promise<ChaosWallet[]> {
  const contracts = readDevnetFile(join(home, 'devnet.json'))
  const wallets: ChaosWallet[] = []
  for (let i = 0; i < count; i++) {
    const order = { body: { userId: `user-${i}` }, key: `wallet-${i}` }
    const { body } = await call('POST', '/wallets', order)
    const wallet = { id: String(body.id), address: String(body.address) }
    wallets.push(wallet)
    for (const { name, nodeUrl } of chains.list) {
      const data = token.encodeFunctionData('mint', [wallet.address, ENDOWMENT])
      const mint = { from: devnetOwner, to: contracts[name].usdc, data, gas: toQuantity(200_000) }
      await callRpc(nodeUrl, 'eth_sendTransaction', [mint])
    }
  }
  return wallets
}

async function cutOffAgainAndAgain(
  { seed, outageEveryMs }: Storm,
  chains: StormyChains,
  signal: AbortSignal,
): Promise<void> {
  const draws = drawsOf(seed, 'outages')
  while (!signal.aborted) {
    await sleep(outageEveryMs * (0.5 + draws.next()), undefined, { signal }).catch(() => undefined)
    if (!signal.aborted) await chains.cutOff(draws, signal)
  }
}

/** Findings of `npm run audit`, read from the nodes themselves. */
async function auditAll({ home, chains, stack }: ChaosRun): Promise<string[]> {
  const { databaseUrl, temporalAddress } = stack.facts
  const urls = chains.list.map(({ name, nodeUrl }) => [rpcVariable(name), nodeUrl])
  const { text, exitCode } = (await runAudit([], {
    ...(Object.fromEntries(urls) as NodeJS.ProcessEnv),
    ...{ NETWORK: 'devnet', DEVNET_FILE: join(home, 'devnet.json') },
    ...{ DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporalAddress },
  })) ?? { text: '', exitCode: 0 }
  return exitCode === 0 ? [] : text.split('\n')
}

/** The intents that are still open at the deadline. */
async function waitUntilOver(db: Db, deadline: number): Promise<OpenIntent[]> {
  for (;;) {
    const open = await db('intent')
      .whereNotIn('status', ['completed', 'failed'])
      .select<OpenIntent[]>('id', 'status', db.raw(`(clock_timestamp() - created_at)::text as age`))
      .catch(() => undefined)
    if (open?.length === 0 || Date.now() > deadline) return open ?? []
    await sleep(500)
  }
}

async function countByStatus(db: Db): Promise<Record<string, number>> {
  const rows = await db('intent')
    .groupByRaw(`status, error ->> 'code'`)
    .select<{ what: string; count: number }[]>(
      db.raw(`concat_ws(' ', status, error ->> 'code') as what`),
      db.raw('count(*)::int as count'),
    )
  return Object.fromEntries(rows.map(({ what, count }) => [what, count]))
}
