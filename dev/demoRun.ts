import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pc from 'picocolors'
import { InsufficientFundsError, IntentFailedError, Steward, StewardError } from '@steward/sdk'
import { chainNames, type ChainName, type DevnetContracts } from '../evm/registry.js'
import { readEthBalance, readTokenBalance } from './stack/chainState.js'
import { fromUnits } from '../domain/money.js'
import { commandAgeMs } from './state/processes.js'
import type { Intent, Step, Transaction, Wallet } from '@steward/sdk'
import type { Devnet } from './state/openDevnet.js'
import { drawLive, eraseLive, UserError, fact, formatSeconds, say, sign } from './terminal.js'

type DemoNode = { url: string; contracts: DevnetContracts }

/** The chain that receives the test money. */
const FUNDED_CHAIN: ChainName = 'arbitrum-sepolia'
const POLL_MS = 150
/** Funding takes one or two blocks and an intent a few more. A busy machine needs far longer. */
const TIMEOUT_MS = 120_000
/** The money is on the chain before the service has indexed its block. */
const INDEXING_TIMEOUT_MS = 15_000

/**
 * Runs the main use case as a client: creates a wallet, funds it with 1 USDC, lends at the best rate and prints the
 * result.
 *
 * @throws {UserError} when the intent does not complete.
 */
export async function runDemo({ facts, contracts }: Devnet): Promise<void> {
  const nodeOf = (chain: ChainName) => ({ url: facts.rpcUrls[chain], contracts: contracts[chain] })
  const source = nodeOf(FUNDED_CHAIN)
  say(
    `  ${pc.bold('Demo')} ${pc.dim('lends 1 USDC where it pays most, from a wallet without ETH')}\n`,
  )

  const steward = new Steward({ apiKey: facts.apiKey, baseUrl: facts.apiBaseUrl })
  const userId = `demo-${randomBytes(4).toString('hex')}`
  const wallet = await steward.wallets.create({ userId }).catch(explain)
  report('wallet', `${wallet.address} ${pc.dim(wallet.id)}`)

  await steward.demo.fund(wallet.id).catch(explain)
  const readUsdc = ({ url, contracts }: DemoNode) =>
    readTokenBalance(url, contracts.usdc, wallet.address)
  await waitFor('fund', 'waiting for 1 USDC', async () => (await readUsdc(source)) > 0n)
  const readEth = async () => {
    const balances = chainNames.map((chain) => readEthBalance(nodeOf(chain).url, wallet.address))
    return (await Promise.all(balances)).reduce((sum, wei) => sum + wei)
  }
  const ethBefore = await readEth()
  report('fund', `1 USDC on ${FUNDED_CHAIN}`)

  const begun = Date.now()
  const created = await lend(steward, wallet)
  report('intent', `${created.status} ${pc.dim(created.id)}`)
  reportPlan(created)
  const intent = await followIntent(steward, created)
  report('completed', `${pc.bold(formatSeconds(Date.now() - begun))} after POST /v1/intents`)
  const totalMs = commandAgeMs()

  const { targetChain = FUNDED_CHAIN } = intent.executionPlan ?? {}
  const target = nodeOf(targetChain as ChainName)
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

async function lend(steward: Steward, wallet: Wallet): Promise<Intent> {
  const deadline = Date.now() + INDEXING_TIMEOUT_MS
  for (;;) {
    try {
      return await steward.intents.lend({ walletId: wallet.id, amount: 1 })
    } catch (error) {
      if (!(error instanceof InsufficientFundsError) || Date.now() > deadline) explain(error)
    }
    await sleep(POLL_MS)
  }
}

/** Prints each sentence of the reasoning on its own line below the steps. */
function reportPlan({ executionPlan }: Intent): void {
  const { steps = [], reasoning = '' } = executionPlan ?? {}
  report('plan', steps.map(describeStep).join(', '))
  for (const sentence of reasoning.split(/(?<=\.) (?=[A-Z])/)) say(`    ${pc.dim(sentence)}`)
}

function describeStep({ type, amount, from, to, chain }: Step): string {
  return `${type} ${amount} USDC ${from ? `from ${from} to ${to}` : `on ${chain}`}`
}

/** Prints each transaction as it appears, until the intent has finished. */
async function followIntent({ intents }: Steward, created: Intent): Promise<Intent> {
  let intent = created
  let printed = 0
  const show = (next: Intent) => {
    intent = next
    const transactions = intent.results?.transactions ?? []
    for (const transaction of transactions.slice(printed)) reportTransaction(transaction)
    printed = Math.max(printed, transactions.length)
  }
  const over = intents.waitForCompletion(created.id, {
    timeoutMs: TIMEOUT_MS,
    onEvent: async () => show(await intents.get(created.id)),
  })
  await showLive('intent', () => describeProgress(intent), over).then(show, explain)
  return intent
}

function describeProgress({ status, executionPlan, results }: Intent): string {
  const steps = executionPlan?.steps ?? []
  const next = steps[results?.completedSteps ?? 0]
  const step = next ? `: ${next.type} (${(results?.completedSteps ?? 0) + 1}/${steps.length})` : ''
  return `${status}${step}`
}

function reportTransaction({ type, txHash, chain, gasUsed, gasCostUsd }: Transaction): void {
  const gas = `gas ${Number(gasUsed).toLocaleString('en')} (${gasCostUsd === null ? 'cost unknown' : `$${gasCostUsd.toFixed(4)}`})`
  report(type, `${txHash} ${pc.dim(`${chain}, ${gas}`)}`)
}

function report(step: string, what: string): void {
  say(`  ${sign.done} ${step.padEnd(10)} ${what}`)
}

/** Polls until `isOver` resolves with true. */
function waitFor(step: string, what: string, isOver: () => Promise<boolean>): Promise<void> {
  const wait = async () => {
    const deadline = Date.now() + TIMEOUT_MS
    while (!(await isOver())) {
      if (Date.now() > deadline) {
        throw new UserError(`Gave up after ${formatSeconds(TIMEOUT_MS)} in step "${step}".`)
      }
      await sleep(POLL_MS)
    }
  }
  return showLive(step, () => what, wait())
}

/** A live line with the elapsed time of a wait. */
async function showLive<T>(step: string, describe: () => string, over: Promise<T>): Promise<T> {
  const begun = Date.now()
  const redraw = setInterval(() => {
    const elapsed = pc.dim(formatSeconds(Date.now() - begun))
    drawLive(`  ${sign.busy()} ${step.padEnd(10)} ${describe()} ${elapsed}`)
  }, 80)
  try {
    return await over
  } finally {
    clearInterval(redraw)
    eraseLive()
  }
}

/** @throws {UserError} with the API's error message. */
function explain(error: unknown): never {
  if (!(error instanceof StewardError)) throw error
  const { code, message, status } = error
  if (error instanceof IntentFailedError) {
    throw new UserError(`The intent failed: ${code} ${message}`)
  }
  const who = status === undefined ? 'The API does not answer' : `The API answered ${status}`
  throw new UserError(`${who}: ${code} ${message}`, { cause: error })
}

const formatPercent = (percent: number | undefined) =>
  percent === undefined ? 'unknown' : `${percent.toFixed(2)} %`
