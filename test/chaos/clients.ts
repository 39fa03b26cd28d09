import { setTimeout as sleep } from 'node:timers/promises'
import { chainNames, type ChainName } from '../../evm/registry.js'
import { drawsOf, type Draws } from './draws.js'
import type { StackFacts } from '../e2e/stack.js'

const ANSWER_MS = 20_000
const POLL_MS = 700
/** Amounts of the intents in USDC. Small, so that a wallet can afford many. */
const AMOUNTS = [0.5, 1, 1.5] as const

export type ChaosWallet = { id: string; address: string }
/** An intent in the view of its client. `seen`: the statuses that the API returned, in order. */
export type OrderedIntent = {
  id: string
  key: string
  wallet: ChaosWallet
  body: IntentBody
  seen: string[]
}
/** A request that was refused although the money was visible to the client before and after. */
export type RefusedOrder = { wallet: string; body: IntentBody; message: string }
/** Observations of the clients. */
export type Notes = {
  ordered: OrderedIntent[]
  refused: RefusedOrder[]
  faults: string[]
  tries: number
}

type IntentBody =
  | { action: 'lend' | 'withdraw'; amount: number; chain: ChainName }
  | { action: 'bridge'; amount: number; fromChain: ChainName; toChain: ChainName }

type ChaosResponse = { status: number; body: Record<string, unknown> }
type SendRequest = (
  method: 'GET' | 'POST',
  path: string,
  order?: { body: object; key: string },
) => Promise<ChaosResponse>

/** A client that retries until it gets a response, with the same idempotency key. */
export function createPatientClient({ apiBaseUrl, apiKey }: StackFacts, notes: Notes): SendRequest {
  return async (method, path, order) => {
    for (;;) {
      notes.tries++
      const answer = await send().catch(() => undefined)
      const isFinal = answer && answer.status < 500 && answer.status !== 429
      if (isFinal) return answer
      await sleep(POLL_MS)
    }
    async function send(): Promise<ChaosResponse> {
      const response = await fetch(apiBaseUrl + path, {
        method,
        headers: {
          authorization: `Bearer ${apiKey}`,
          'content-type': 'application/json',
          ...(order ? { 'idempotency-key': order.key } : {}),
        },
        signal: AbortSignal.timeout(ANSWER_MS),
        ...(order ? { body: JSON.stringify(order.body) } : {}),
      })
      return { status: response.status, body: (await response.json()) as ChaosResponse['body'] }
    }
  }
}

/** Creates intents for a wallet one after the other until the storm ends, and follows each to its end. */
export async function useWallet(
  call: SendRequest,
  wallet: ChaosWallet,
  { seed, isRaging, notes }: { seed: string; isRaging(): boolean; notes: Notes },
): Promise<void> {
  const draws = drawsOf(seed, `client ${wallet.id}`)
  for (let turn = 0; isRaging(); turn++) {
    const shown = await readShown(call, wallet)
    const body = wishFor(shown, draws)
    if (!body) {
      await sleep(POLL_MS)
      continue
    }
    const key = `${wallet.id}-${turn}`
    const order = { body: { walletId: wallet.id, ...body }, key }
    const answer = await call('POST', '/intents', order)
    if (answer.status === 201) {
      const one = { id: String(answer.body.id), key, wallet, body, seen: [] }
      notes.ordered.push(one)
      await follow(call, one, { isRaging, notes })
    } else {
      await judgeRefusal(call, { wallet, body, answer }, notes)
    }
  }
}

/** Visible USDC in base units: in the wallet by chain, and in markets. */
type Shown = { held: Map<ChainName, bigint>; lent: Map<ChainName, bigint> }

async function readShown(call: SendRequest, { id }: ChaosWallet): Promise<Shown> {
  const [balances, positions] = [
    await call('GET', `/balances/${id}`),
    await call('GET', `/positions/${id}`),
  ]
  return { held: readHeld(balances.body), lent: readLent(positions.body) }
}

function readHeld(body: ChaosResponse['body']): Shown['held'] {
  type Entry = { chain: ChainName; tokens: { asset: string; balance: string }[] }
  const entries = (body.chains ?? []) as Entry[]
  return new Map(
    entries.map(({ chain, tokens }) => {
      const usdc = tokens.find(({ asset }) => asset === 'USDC')
      return [chain, BigInt(usdc?.balance ?? 0)] as const
    }),
  )
}

function readLent(body: ChaosResponse['body']): Shown['lent'] {
  const lent = new Map<ChainName, bigint>()
  const positions = (body.positions ?? []) as { chain: ChainName; currentValue?: string }[]
  for (const { chain, currentValue = '0' } of positions) {
    lent.set(chain, (lent.get(chain) ?? 0n) + toUnits(Number(currentValue)))
  }
  return lent
}

const toUnits = (amount: number) => BigInt(Math.floor(amount * 1_000_000))

/** A random intent that the wallet can afford by its visible balance. */
function wishFor({ held, lent }: Shown, draws: Draws): IntentBody | undefined {
  const amount = draws.pick(AMOUNTS.map((one) => [one, 1] as const))
  const chain = draws.pick(chainNames.map((name) => [name, 1] as const))
  const isAffordable = (held.get(chain) ?? 0n) >= toUnits(amount)
  const action = draws.pick([
    ['lend', 45],
    ['withdraw', 30],
    ['bridge', 25],
  ] as const)
  if (action === 'withdraw') {
    // Markets round, so a little is left in.
    const isLent = (lent.get(chain) ?? 0n) > toUnits(amount) + 10n
    return isLent ? { action, amount, chain } : undefined
  }
  if (!isAffordable) return undefined
  if (action === 'lend') return { action, amount, chain }
  const others = chainNames.filter((name) => name !== chain)
  const toChain = draws.pick(others.map((name) => [name, 1] as const))
  return { action, amount, fromChain: chain, toChain }
}

/** Polls the intent until it has finished. After the storm the run checks the rest. */
async function follow(
  call: SendRequest,
  one: OrderedIntent,
  { isRaging, notes }: { isRaging(): boolean; notes: Notes },
): Promise<void> {
  while (isRaging()) {
    await sleep(POLL_MS)
    const { status, body } = await call('GET', `/intents/${one.id}`)
    if (status !== 200) notes.faults.push(`${one.id}: a GET after the 201 was answered ${status}`)
    const shown = String(body.status)
    if (one.seen.at(-1) !== shown) one.seen.push(shown)
    if (shown === 'completed' || shown === 'failed') return
  }
}

type RefusalCheck = { wallet: ChaosWallet; body: IntentBody; answer: ChaosResponse }

/** A reorg between read and request may have undone a deposit, so the balance must still be visible afterwards. */
async function judgeRefusal(
  call: SendRequest,
  { wallet, body, answer }: RefusalCheck,
  notes: Notes,
) {
  const { error: code, message } = answer.body as { error?: string; message?: string }
  if (code !== 'INSUFFICIENT_FUNDS') {
    notes.faults.push(`${JSON.stringify(body)} was answered ${answer.status} ${code}: ${message}`)
    return
  }
  const { held, lent } = await readShown(call, wallet)
  const chain = body.action === 'bridge' ? body.fromChain : body.chain
  const shown = (body.action === 'withdraw' ? lent : held).get(chain) ?? 0n
  if (shown > toUnits(body.amount) + 10n) {
    notes.refused.push({ wallet: wallet.id, body, message: message ?? '' })
  }
}
