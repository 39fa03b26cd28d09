import { expect, test } from 'vitest'
import { problemsOf } from '../../../clients/dashboard/src/pages/system/problems.js'

type System = Parameters<typeof problemsOf>[0]
const SINCE = '2026-11-22T12:00:00.000Z'

const well: System = {
  readiness: {
    checkedAt: SINCE,
    chains: [
      {
        chain: 'base-sepolia',
        answered: true,
        endpoints: [{ position: 1, state: 'ok' }],
        disabled: [],
        checks: [],
      },
    ],
    treasury: [],
    senders: [],
  },
  roles: [{ role: 'signer', sessions: 2, isThere: true }],
  temporal: true,
  chains: [],
  senders: [],
  pauses: [],
  auditLog: [],
  late: [],
}

test('problemsOf: is empty for a healthy deployment', () => {
  expect(problemsOf(well)).toEqual([])
})

test('problemsOf: returns one sentence per problem', () => {
  const [chain] = well.readiness.chains
  if (!chain) throw new Error('The chain is missing.')
  const disabled = [{ capability: 'bridge', what: 'the bridge', reason: 'it is another' }]
  const endpoints = [...chain.endpoints, { position: 2, state: 'silent' as const }]
  const stop = { scope: 'chain' as const, subject: 'base-sepolia', since: SINCE, by: 'a', why: 'b' }
  const sender = { chain: 'base-sepolia', address: '0x1', nextNonce: '0', open: 0, openSince: null }
  const troubled: System = {
    ...well,
    readiness: { ...well.readiness, chains: [{ ...chain, endpoints, disabled }] },
    roles: [{ role: 'signer', sessions: 0, isThere: false }],
    temporal: false,
    senders: [{ ...sender, outOfGasSince: SINCE }],
    pauses: [stop, { ...stop, scope: 'deployment', subject: '' }],
    late: [{ intentId: 'intent_1', accountId: 'acct_1', code: 'BRIDGE_TIMEOUT', since: SINCE }],
  }
  expect(problemsOf(troubled)).toEqual([
    'Temporal does not answer: new intents wait.',
    'No signer process is running.',
    'Endpoint 2 of Base Sepolia: silent.',
    'The bridge is disabled on Base Sepolia: it is another.',
    'A sender on Base Sepolia is out of gas.',
    '2 pauses and freezes are active.',
    '1 intent is late.',
  ])
})

test('problemsOf: names a chain without enough answers', () => {
  const chains = well.readiness.chains.map((chain) => ({ ...chain, answered: false }))
  const system = { ...well, readiness: { ...well.readiness, chains } }
  expect(problemsOf(system)).toEqual(['Base Sepolia did not answer enough checks.'])
})
