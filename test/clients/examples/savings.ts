import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { Steward } from '@steward/sdk'
import { expect } from 'vitest'
import { until } from '../../e2e/stack.js'
import { startProgram, type Program } from './programs.js'

export type Order = { id: string; status: string; intentId?: string; reason?: string }
export type Saver = { address: string; available: string; saved: string; earned: string }
type Where = { env: NodeJS.ProcessEnv; file: string; port?: number }

export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Starts `clients/examples/savings-app-ts` as documented, with clients of its users and its owner. */
export async function startSavingsApp({ env, file, port = 0 }: Where) {
  let program = await start()
  const steward = new Steward({
    ...{ apiKey: env.STEWARD_API_KEY ?? '', baseUrl: env.STEWARD_BASE_URL ?? '' },
  })

  async function start(): Promise<Program & { url: string }> {
    const started = startProgram(process.execPath, {
      args: ['--import', 'tsx', 'src/main.ts'],
      folder: 'clients/examples/savings-app-ts',
      env: { ...env, PORT: String(port), STORE_FILE: file },
    })
    const url = await until(
      () => Promise.resolve(/Savings at (\S+)/.exec(started.output())?.[1]),
      (found) => found !== undefined || started.code() !== null,
    )
    if (!url) throw new Error(`The app did not start:\n${started.output()}`)
    return { ...started, url }
  }

  async function call<Body>(method: 'GET' | 'POST', path: string, body?: object) {
    const sent = body ? { body: JSON.stringify(body) } : {}
    const response = await fetch(program.url + path, { method, ...sent })
    return { status: response.status, body: (await response.json()) as Body }
  }
  const readSaver = async (userId: string) => (await call<Saver>('GET', `/savers/${userId}`)).body
  const readOrder = async (id: string) => (await call<Order>('GET', `/orders/${id}`)).body

  return {
    ...{ steward, call, readSaver, readOrder },

    /** A saver who has got the test money. */
    async signUp(userId: string): Promise<Saver> {
      expect(await call('POST', '/savers', { userId })).toMatchObject({ status: 201 })
      return until(
        () => readSaver(userId),
        ({ available }) => available === '1',
      )
    },

    order: (userId: string, orderId: string, wish: object) =>
      call<Order>('POST', `/savers/${userId}/orders`, { orderId, ...wish }),

    untilFinished: (id: string) =>
      until(
        () => readOrder(id),
        ({ status }) => status !== 'open',
      ),

    async listIntents(userId: string) {
      const { id: walletId } = await steward.wallets.get(userId)
      const intents = []
      for await (const intent of steward.intents.list({ walletId })) intents.push(intent)
      return intents
    },

    /** As a crash does: nothing that the process has in memory is left. */
    kill: () => program.kill('SIGKILL'),
    async restart(): Promise<void> {
      program = await start()
    },
  }
}
export type SavingsApp = Awaited<ReturnType<typeof startSavingsApp>>

export const save = (amount: string) => ({ kind: 'save', amount })
