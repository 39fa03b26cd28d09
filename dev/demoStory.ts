import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pc from 'picocolors'
import { chainNames, type ChainName, type DevnetContracts } from '../chains/registry.js'
import { readEthBalance, readTokenBalance } from './parts/chainState.js'
import { fromUnits } from '../domain/money.js'
import { readJson } from './state/jsonFile.js'
import { commandAgeMs } from './state/processes.js'
import { type Facts } from './stack.js'
import { drawLive, eraseLive, Explained, fact, formatSeconds, say, sign } from './terminal.js'

type Wallet = { id: string; address: string }
type Step = { type: string; from?: string; to?: string; chain?: string; amount: string }
type Transaction = {
  type: string
  txHash: string
  chain: string
  gasUsed: string
  gasCostUsd: number
}
type Intent = {
  id: string
  status: string
  executionPlan?: { targetChain: ChainName; reasoning: string; steps: Step[] }
  results?: { completedSteps: number; transactions: Transaction[]; apy?: number }
  error?: { code?: string; message: string }
}
type Node = { url: string; contracts: DevnetContracts }

/** Where test money comes to. */
const FUNDED_CHAIN: ChainName = 'arbitrum-sepolia'
const POLL_MS = 150
/** Funding takes a block or two, an intent some more; a machine that builds beside it needs far longer. */
const TIMEOUT_MS = 120_000
/** The money is on the chain before the service has booked its block. */
const BOOKING_TIMEOUT_MS = 15_000

/**
 * Runs the main job as a caller would: a wallet, one test USDC, a `lend` that goes where it pays most, and
 * what became of it.
 *
 * @param contractsFile - JSON of the devnet's addresses, to read the chains besides the API.
 * @throws {Explained} when the intent does not complete.
 */
export async function runDemo(facts: Facts, contractsFile: string): Promise<void> {
  const nodeOf = openNodes(facts, contractsFile)
  const source = nodeOf(FUNDED_CHAIN)
  say(
    `  ${pc.bold('Demo')} ${pc.dim('lends 1 USDC where it pays most, from a wallet without ETH')}\n`,
  )

  const userId = `demo-${randomBytes(4).toString('hex')}`
  const wallet = await post<Wallet>(facts, '/wallets', { userId, metadata: {} })
  tell('wallet', `${wallet.address} ${pc.dim(wallet.id)}`)

  await post(facts, '/demo/fund', { walletId: wallet.id })
  const readUsdc = ({ url, contracts }: Node) =>
    readTokenBalance(url, contracts.usdc, wallet.address)
  await waitFor('fund', 'waiting for 1 USDC', async () => (await readUsdc(source)) > 0n)
  const readEth = async () => {
    const balances = chainNames.map((chain) => readEthBalance(nodeOf(chain).url, wallet.address))
    return (await Promise.all(balances)).reduce((sum, wei) => sum + wei)
  }
  const ethBefore = await readEth()
  tell('fund', `1 USDC on ${FUNDED_CHAIN}`)

  const begun = Date.now()
  const created = await createIntent(facts, wallet)
  tell('intent', `${created.status} ${pc.dim(created.id)}`)
  tellPlan(created)
  const intent = await followIntent(facts, created)
  tell('completed', `${pc.bold(formatSeconds(Date.now() - begun))} after POST /v1/intents`)
  const totalMs = commandAgeMs()

  const targetChain = intent.executionPlan?.targetChain ?? FUNDED_CHAIN
  const target = nodeOf(targetChain)
  const lent = await readTokenBalance(target.url, target.contracts.aToken, wallet.address)
  const usdc = await readUsdc(source)
  const eth = `${fromUnits(ethBefore, 18)} before, ${fromUnits(await readEth(), 18)} after`
  say()
  say(fact('APY', formatPercent(intent.results?.apy)))
  say(fact('USDC of the wallet', `${fromUnits(usdc, 6)} on ${FUNDED_CHAIN}`))
  say(fact('aUSDC of the wallet', `${fromUnits(lent, 6)} on ${targetChain}`))
  say(fact('ETH of the wallet', `${eth}, on all chains`))
  say(fact('From command', `${formatSeconds(totalMs)} to completed`))
  say()
}

function openNodes(facts: Facts, contractsFile: string): (chain: ChainName) => Node {
  const all = readJson<Record<ChainName, DevnetContracts>>(contractsFile)
  if (!all) throw new Explained(`The devnet's addresses are missing (${contractsFile}).`)
  return (chain) => ({ url: facts.rpcUrls[chain], contracts: all[chain] })
}

async function createIntent(facts: Facts, wallet: Wallet): Promise<Intent> {
  const request = { walletId: wallet.id, action: 'lend', amount: 1, asset: 'USDC' }
  const deadline = Date.now() + BOOKING_TIMEOUT_MS
  for (;;) {
    const answer = await call<Intent>(facts, 'POST', '/intents', request)
    if (answer.status === 201) return answer.body
    if (answer.error !== 'INSUFFICIENT_FUNDS' || Date.now() > deadline) throw refusal(answer)
    await sleep(POLL_MS)
  }
}

/** One sentence of the reasoning in a line, below the steps. */
function tellPlan({ executionPlan }: Intent): void {
  const { steps = [], reasoning = '' } = executionPlan ?? {}
  tell('plan', steps.map(describeStep).join(', '))
  for (const sentence of reasoning.split(/(?<=\.) (?=[A-Z])/)) say(`    ${pc.dim(sentence)}`)
}

function describeStep({ type, amount, from, to, chain }: Step): string {
  return `${type} ${amount} USDC ${from ? `from ${from} to ${to}` : `on ${chain}`}`
}

/** Tells each transaction when it is there, until the intent is over. */
async function followIntent(facts: Facts, created: Intent): Promise<Intent> {
  let intent = created
  let told = 0
  const isOver = async () => {
    const answer = await call<Intent>(facts, 'GET', `/intents/${created.id}`)
    if (answer.status !== 200) throw refusal(answer)
    intent = answer.body
    const transactions = intent.results?.transactions ?? []
    for (const transaction of transactions.slice(told)) tellTransaction(transaction)
    told = Math.max(told, transactions.length)
    return intent.status === 'completed' || intent.status === 'failed'
  }
  await waitFor('intent', () => describeProgress(intent), isOver)
  if (intent.status === 'completed') return intent
  const { code, message } = intent.error ?? { message: 'no reason given' }
  throw new Explained(`The intent failed: ${code ?? ''} ${message} (${intent.id})`)
}

function describeProgress({ status, executionPlan, results }: Intent): string {
  const steps = executionPlan?.steps ?? []
  const next = steps[results?.completedSteps ?? 0]
  const step = next ? `: ${next.type} (${(results?.completedSteps ?? 0) + 1}/${steps.length})` : ''
  return `${status}${step}`
}

function tellTransaction({ type, txHash, chain, gasUsed, gasCostUsd }: Transaction): void {
  const gas = `gas ${Number(gasUsed).toLocaleString('en')} ($${gasCostUsd.toFixed(4)})`
  tell(type, `${txHash} ${pc.dim(`${chain}, ${gas}`)}`)
}

function tell(step: string, what: string): void {
  say(`  ${sign.done} ${step.padEnd(10)} ${what}`)
}

/** Waits for something with a live line that shows how long it has been. */
async function waitFor(
  step: string,
  what: string | (() => string),
  isOver: () => Promise<boolean>,
): Promise<void> {
  const begun = Date.now()
  const redraw = setInterval(() => {
    const text = typeof what === 'string' ? what : what()
    const elapsed = pc.dim(formatSeconds(Date.now() - begun))
    drawLive(`  ${sign.busy()} ${step.padEnd(10)} ${text} ${elapsed}`)
  }, 80)
  try {
    while (!(await isOver())) {
      if (Date.now() - begun > TIMEOUT_MS) {
        throw new Explained(`Gave up after ${formatSeconds(TIMEOUT_MS)} in step "${step}".`)
      }
      await sleep(POLL_MS)
    }
  } finally {
    clearInterval(redraw)
    eraseLive()
  }
}

type Answer<T> = { status: number; body: T; error?: string; message?: string }

async function post<T>(facts: Facts, path: string, body: object): Promise<T> {
  const answer = await call<T>(facts, 'POST', path, body)
  if (answer.status >= 300) throw refusal(answer)
  return answer.body
}

async function call<T>(
  { apiBaseUrl, apiKey }: Facts,
  method: string,
  path: string,
  body?: object,
): Promise<Answer<T>> {
  const response = await fetch(`${apiBaseUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((cause: unknown) => {
    throw new Explained(`The API at ${apiBaseUrl} does not answer.`, { cause })
  })
  const json = (await response.json().catch(() => ({}))) as T & { error?: string; message?: string }
  const failure = response.ok ? {} : { error: json.error ?? '', message: json.message ?? '' }
  return { status: response.status, body: json, ...failure }
}

function refusal({ status, error, message }: Answer<unknown>): Explained {
  return new Explained(`The API answered ${status} ${error ?? ''}: ${message ?? 'no message'}`)
}

const formatPercent = (percent: number | undefined) =>
  percent === undefined ? 'not told' : `${percent.toFixed(2)} %`
