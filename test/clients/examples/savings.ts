import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { Steward } from '@steward/sdk'
import { expect } from 'vitest'
import { until } from '../../e2e/stack.js'
import { startProgram, type Program } from './programs.js'

export type ShownOrder = { id: string; status: string; intentId?: string; reason?: string }
export type ShownSaver = { address: string; available: string; saved: string; earned: string }
type SavingsAppOptions = { env: NodeJS.ProcessEnv; file: string; port?: number }

export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Starts `clients/examples/savings-app-ts` as documented, with clients of its users and its owner. */
export async function startSavingsApp({ env, file, port = 0 }: SavingsAppOptions) {
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
  const readSaver = async (userId: string) =>
    (await call<ShownSaver>('GET', `/savers/${userId}`)).body
  const readOrder = async (id: string) => (await call<ShownOrder>('GET', `/orders/${id}`)).body

  return {
    ...{ steward, call, readSaver, readOrder },

    /** Signs a saver up and waits for the test money. */
    async signUp(userId: string): Promise<ShownSaver> {
      expect(await call('POST', '/savers', { userId })).toMatchObject({ status: 201 })
      return until(
        () => readSaver(userId),
        ({ available }) => available === '1',
      )
    },

    order: (userId: string, orderId: string, request: object) =>
      call<ShownOrder>('POST', `/savers/${userId}/orders`, { orderId, ...request }),

    untilEnded: (id: string) =>
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

    /** Kills the process like a crash, so its memory is lost. */
    kill: () => program.kill('SIGKILL'),
    async restart(): Promise<void> {
      program = await start()
    },
  }
}
export type SavingsApp = Awaited<ReturnType<typeof startSavingsApp>>

export const save = (amount: string) => ({ kind: 'save', amount })
