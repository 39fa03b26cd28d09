import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'

/** What clients are made of that generators write. */
const documentFile = new URL('../../../docs/reference/openapi.json', import.meta.url)

/** What a caller writes with generated types. Each expected error would be none if the document said too little. */
const sample = `
import type { components, operations, paths } from './api.js'

type Schemas = components['schemas']
type JsonBodyOf<Name extends 'createWallet' | 'createIntent' | 'fundWallet'> =
  operations[Name]['requestBody']['content']['application/json']

export const wallet: JsonBodyOf<'createWallet'> = { userId: 'alice' }
export const lend: JsonBodyOf<'createIntent'> = { walletId: 'w', action: 'lend', amount: '0.5' }
export const net: Schemas['LendRequest'] = { ...lend, action: 'lend', optimize: 'net', horizonDays: 90 }
export const back: Schemas['IntentRequest'] = { walletId: 'w', action: 'withdraw', amount: 'max', chain: 'base' }
export const failing: Schemas['IntentRequest'] = {
  ...lend,
  metadata: { order: 17, simulate: 'DEPOSIT_FAILED' },
}
// @ts-expect-error A withdrawal names its chain.
export const nowhere: Schemas['IntentRequest'] = { walletId: 'w', action: 'withdraw', amount: 1 }
// @ts-expect-error There is no such failure.
export const odd: Schemas['IntentRequest'] = { ...lend, metadata: { simulate: 'EARTHQUAKE' } }
// @ts-expect-error The fields of other actions are refused.
export const mixed: Schemas['LendRequest'] = { walletId: 'w', action: 'lend', amount: 1, toChain: 'base' }
// @ts-expect-error There is no other asset.
export const ether: Schemas['LendRequest'] = { walletId: 'w', action: 'lend', amount: 1, asset: 'ETH' }

export const query: operations['listIntents']['parameters']['query'] = { status: ['failed', 'completed'], limit: 5 }
export const preview: operations['createIntent']['parameters']['query'] = { dryRun: true }
export const byPath: paths['/intents/{intentId}']['get']['parameters']['path'] = { intentId: 'intent_1' }

export function summarize(intent: Schemas['Intent']): string {
  const status: 'pending' | 'planning' | 'executing' | 'completed' | 'failed' = intent.status
  const places: Schemas['FundsAt'][] = intent.error?.funds ?? intent.funds ?? []
  const where = places.map(({ amount, asset, chain, protocol = 'the wallet' }) => [amount, asset, chain, protocol])
  const order: unknown = intent.metadata?.['order']
  const hash: string | undefined = intent.executionPlan?.steps[0]?.txHash
  // @ts-expect-error An intent may have no plan yet.
  const steps = intent.executionPlan.steps
  return JSON.stringify([status, where, order, hash, steps])
}

export function best({ best }: Schemas['Yields']): number {
  // @ts-expect-error There may be no rate at all.
  const apy: number = best.apy
  return best === null ? 0 : best.apy + apy
}

export function next({ nextCursor }: Schemas['WalletList']): { cursor: string } | undefined {
  return nextCursor === null ? undefined : { cursor: nextCursor }
}

export function readEvent({ type, data }: Schemas['Event']): unknown {
  return type === 'intent.step_completed' ? data['txHash'] : undefined
}

export function explain(body: Schemas['ErrorBody']): string {
  const code: Schemas['ErrorCode'] = body.error
  switch (body.error) {
    case 'INSUFFICIENT_FUNDS':
      return body.details.required + body.details.available
    case 'INVALID_REQUEST': {
      const reason: Schemas['ErrorReason'] | undefined = body.details.reason
      return body.details.issues.map(({ path, message }) => path + message).join() + String(reason)
    }
    case 'RATE_LIMITED':
      return String(body.details.retryAfter)
    default:
      return code + body.details.requestId
  }
}

const failures: Record<Schemas['IntentFailureCode'], string> = {
  BRIDGE_FAILED: '', BRIDGE_TIMEOUT: '', SWAP_FAILED: '', WITHDRAW_FAILED: '', DEPOSIT_FAILED: '',
  NETWORK_ERROR: '', RPC_ERROR: '', INTERNAL: '', CANCELLED: '', INSUFFICIENT_FUNDS: '', INVALID_REQUEST: '',
}
export const known = Object.keys(failures)
`

let folder: string
let generated: string

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'generated-'))
  generated = astToString(await openapiTS(documentFile))
  await writeFile(path.join(folder, 'api.ts'), generated)
})
afterAll(() => rm(folder, { recursive: true }))

async function compile(source: string): Promise<string[]> {
  const file = path.join(folder, 'sample.ts')
  await writeFile(file, source)
  const program = ts.createProgram([file], {
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
    ...{ noEmit: true, skipLibCheck: false, types: [], lib: ['lib.es2023.d.ts'] },
    ...{ module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023 },
  })
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}

describe('types that openapi-typescript makes of docs/reference/openapi.json', () => {
  test('accept a valid client and reject an invalid one', async () => {
    expect(await compile(sample)).toEqual([])
  })

  test('refuse a sample that is wrong: the compiler does read them', async () => {
    const wrong = sample.replace("amount: '0.5'", 'amount: true')
    expect(await compile(wrong)).not.toEqual([])
  })

  test('know every free-form object as one that holds something', () => {
    expect(generated).not.toMatch(/^\s+(metadata|data)\??: Record<string, never>/m)
  })
})
