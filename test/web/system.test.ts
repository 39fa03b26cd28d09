import { expect, test } from 'vitest'
import { troublesOf } from '../../web/src/pages/system/troubles.js'

type System = Parameters<typeof troublesOf>[0]
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
    lanes: [],
  },
  roles: [{ role: 'signer', sessions: 2, isThere: true }],
  temporal: true,
  chains: [],
  lanes: [],
  stops: [],
  acts: [],
  late: [],
}

test('where all is well, nothing needs anybody', () => {
  expect(troublesOf(well)).toEqual([])
})

test('each trouble is said once, in words', () => {
  const [chain] = well.readiness.chains
  if (!chain) throw new Error('There is a chain above.')
  const disabled = [{ capability: 'bridge', what: 'the bridge', reason: 'it is another' }]
  const endpoints = [...chain.endpoints, { position: 2, state: 'silent' as const }]
  const stop = { scope: 'chain' as const, subject: 'base-sepolia', since: SINCE, by: 'a', why: 'b' }
  const lane = { chain: 'base-sepolia', address: '0x1', nextNonce: '0', open: 0, openSince: null }
  const troubled: System = {
    ...well,
    readiness: { ...well.readiness, chains: [{ ...chain, endpoints, disabled }] },
    roles: [{ role: 'signer', sessions: 0, isThere: false }],
    temporal: false,
    lanes: [{ ...lane, drySince: SINCE }],
    stops: [stop, { ...stop, scope: 'deployment', subject: '' }],
    late: [{ intentId: 'intent_1', accountId: 'acct_1', code: 'BRIDGE_TIMEOUT', since: SINCE }],
  }
  expect(troublesOf(troubled)).toEqual([
    'Temporal does not answer: nothing new begins.',
    'No signer is there.',
    'Endpoint 2 of Base Sepolia: silent.',
    'On Base Sepolia the bridge is disabled: it is another.',
    'A lane of Base Sepolia has no gas.',
    '2 things are stopped.',
    '1 intent is late.',
  ])
})

test('a chain that said too little is named', () => {
  const chains = well.readiness.chains.map((chain) => ({ ...chain, answered: false }))
  const system = { ...well, readiness: { ...well.readiness, chains } }
  expect(troublesOf(system)).toEqual(['Base Sepolia said too little to be judged.'])
})
