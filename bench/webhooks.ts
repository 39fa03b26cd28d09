import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpus, loadavg } from 'node:os'
import type { AddressInfo } from 'node:net'
import { connect, type Db } from '../db/connection/connect.js'
import {
  createClient,
  createHome,
  removeHome,
  startStack,
  until,
  type Facts,
} from '../test/e2e/stack.js'

/**
 * A thousand events to a receiver that takes 50 ms for each, while intents go on lending: how long until all have
 * arrived, and what they cost the intents. Required: within 60 s.
 */
const EVENTS = Number(process.env.EVENTS ?? 1_000)
const ANSWER_MS = 50
const LIMIT_SECONDS = 60
const LENDINGS = Number(process.env.LENDINGS ?? 5)

const home = await createHome()
const stack = await startStack(home)
try {
  await run(stack.facts)
} finally {
  await stack.stop()
  removeHome(home)
}

async function run(facts: Facts): Promise<void> {
  const db = connect(facts.databaseUrl, 4)
  await db('account').update({ rpm: 1_000_000, purchased: 1_000_000 })
  const call = createClient(facts)
  const receiver = await startCounter()
  const walletId = await openWallet(call)
  const alone = await lendAll(call, walletId)
  console.log(`a lending alone takes ${alone.toFixed(2)} s`)

  const hook = await call('POST', '/webhooks', { url: receiver.url, events: ['wallet.created'] })
  if (hook.status !== 201) throw new Error(`No endpoint: ${JSON.stringify(hook.body)}`)
  const begun = performance.now()
  await tellWallets(db)
  const [beside] = await Promise.all([
    lendAll(call, walletId),
    until(
      () => Promise.resolve(receiver.ids.size),
      (size) => size >= EVENTS,
    ),
  ])
  const seconds = (receiver.lastAt() - begun) / 1_000
  console.log(`${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}`)
  console.log(`${EVENTS} events in ${seconds.toFixed(1)} s, ${receiver.count()} requests`)
  console.log(`a lending beside them takes ${beside.toFixed(2)} s`)
  await receiver.stop()
  await db.destroy()
  if (seconds > LIMIT_SECONDS) process.exitCode = 1
}

type Call = ReturnType<typeof createClient>

async function openWallet(call: Call): Promise<string> {
  const { body } = await call('POST', '/wallets', { userId: 'bench', metadata: {} })
  const walletId = String(body.id)
  const funding = await call('POST', '/demo/fund', { walletId })
  await untilOver(call, `/demo/fund/${String(funding.body.id)}`)
  return walletId
}

/** @returns Seconds of one lending, on average. */
async function lendAll(call: Call, walletId: string): Promise<number> {
  const begun = performance.now()
  for (let n = 0; n < LENDINGS; n++) {
    const lend = {
      action: 'lend',
      walletId,
      asset: 'USDC',
      amount: 0.05,
      chain: 'arbitrum-sepolia',
    }
    const { status, body } = await call('POST', '/intents', lend)
    if (status !== 201) throw new Error(`No intent: ${JSON.stringify(body)}`)
    await untilOver(call, `/intents/${String(body.id)}`)
  }
  return (performance.now() - begun) / 1_000 / LENDINGS
}

async function untilOver(call: Call, path: string): Promise<void> {
  for (;;) {
    const { body } = await call('GET', path)
    if (body.status === 'completed') return
    if (body.status === 'failed') throw new Error(`${path} failed.`)
    await sleep(50)
  }
}

/** As many wallets as are made at once. */
async function tellWallets(db: Db): Promise<void> {
  const account = await db('account').first<{ id: string }>('id')
  await db.raw(
    `insert into wallet (id, account_id, user_id, address, metadata)
     select 'svc_wallet_bench' || n, ?, 'bench' || n, '0x' || md5(n::text), '{}'
     from generate_series(1, ?::int) n`,
    [account.id, EVENTS],
  )
}

async function startCounter() {
  const ids = new Set<string>()
  let count = 0
  let lastAt = 0
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      setTimeout(() => {
        count++
        if (!ids.has(String(request.headers['webhook-id']))) lastAt = performance.now()
        ids.add(String(request.headers['webhook-id']))
        response.writeHead(204).end()
      }, ANSWER_MS)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    ids,
    count: () => count,
    lastAt: () => lastAt,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
