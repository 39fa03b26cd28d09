import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  dailyLimitsOf,
  fundingLimitsOf,
  gasBudgetsOf,
  loadConfig,
  type ProcessRole,
} from '../../runtime/config.js'

const common = {
  NETWORK: 'testnet',
  DATABASE_URL: 'postgres://steward_api:hunter2@db:5432/steward',
  RPC_URL_ETHEREUM_SEPOLIA: 'https://rpc.example/ethereum/hunter2',
  RPC_URL_ARBITRUM_SEPOLIA: 'http://arbitrum:8545',
  RPC_URL_BASE_SEPOLIA: 'https://user:hunter2@rpc.example/base',
}
const complete = { ...common, TEMPORAL_ADDRESS: 'temporal:7233', KEK_FILE: '/run/kek' }

const refusal = (role: ProcessRole, environment: Record<string, string | undefined>): string => {
  try {
    loadConfig(role, environment)
  } catch (error) {
    expect(error).toMatchObject({ code: 'MISCONFIGURED' })
    return (error as Error).message
  }
  throw new Error('It was taken.')
}

describe('loadConfig', () => {
  test('api: defaults, and RPC URLs by canonical name', () => {
    expect(loadConfig('api', complete)).toMatchObject({
      ...{ API_HOST: '127.0.0.1', API_PORT: 3_000, LOG_LEVEL: 'info' },
      TEMPORAL_NAMESPACE: 'default',
      rpcUrls: {
        'ethereum-sepolia': [common.RPC_URL_ETHEREUM_SEPOLIA],
        'arbitrum-sepolia': [common.RPC_URL_ARBITRUM_SEPOLIA],
        'base-sepolia': [common.RPC_URL_BASE_SEPOLIA],
      },
    })
  })

  test('api: fundings are limited on a public network, unlimited on the devnet, or as set', () => {
    const limitsOf = (more: object) => fundingLimitsOf(loadConfig('api', { ...complete, ...more }))
    expect(limitsOf({})).toEqual({ perWallet: 1, perAccount: 20 })
    const devnet = { NETWORK: 'devnet', DEVNET_FILE: '/devnet.json' }
    expect(limitsOf(devnet)).toEqual({ perWallet: 0, perAccount: 0 })
    const set = { FUNDINGS_PER_WALLET_DAY: '0', FUNDINGS_PER_ACCOUNT_DAY: '5' }
    expect(limitsOf(set)).toEqual({ perWallet: 0, perAccount: 5 })
    expect(refusal('api', { ...complete, FUNDINGS_PER_WALLET_DAY: 'many' })).toContain(
      'FUNDINGS_PER_WALLET_DAY: must be a whole number',
    )
  })

  test.each(['0.0.0.0', '::', '10.0.0.4', 'steward.example.com'])(
    'error: api on %s without PUBLIC_URL and TRUSTED_PROXIES',
    (API_HOST) => {
      const message = refusal('api', { ...complete, API_HOST })
      expect(message).toContain('  PUBLIC_URL: must be the address of the service in browsers')
      expect(message).toContain('  TRUSTED_PROXIES: must be the number of proxies')
      const set = { PUBLIC_URL: 'https://steward.example.com', TRUSTED_PROXIES: '0' }
      expect(loadConfig('api', { ...complete, API_HOST, ...set })).toMatchObject({
        ...{ PUBLIC_URL: set.PUBLIC_URL, TRUSTED_PROXIES: 0 },
      })
    },
  )

  test.each(['127.0.0.1', 'localhost', '::1'])('api: %s needs neither', (API_HOST) => {
    expect(loadConfig('api', { ...complete, API_HOST })).toMatchObject({ TRUSTED_PROXIES: 0 })
  })

  test('the compose file passes all settings of an API that listens publicly', () => {
    const compose = readFileSync('docker-compose.yml', 'utf8')
    const settings = readFileSync('deploy/new-env.sh', 'utf8')
    for (const name of ['PUBLIC_URL', 'TRUSTED_PROXIES']) {
      expect(compose).toMatch(new RegExp(`^ {6}${name}: \\$\\{${name}:\\?`, 'm'))
      expect(settings).toMatch(new RegExp(`^echo "?${name}=.+$`, 'm'))
    }
  })

  test('api: gas is budgeted by plan on every network, or as set', () => {
    const budgetsOf = (more: object) => gasBudgetsOf(loadConfig('api', { ...complete, ...more }))
    expect(budgetsOf({})).toEqual({ free: 50, pro: 2_000, enterprise: 50_000 })
    expect(budgetsOf({ GAS_BUDGET_USD_FREE: '7', GAS_BUDGET_USD_PRO: '0' })).toEqual({
      ...{ free: 7, pro: undefined, enterprise: 50_000 },
    })
    const devnet = { NETWORK: 'devnet', DEVNET_FILE: '/devnet.json' }
    expect(budgetsOf(devnet)).toMatchObject({ free: 1_000_000 })
  })

  test('smallest amounts: none on test networks, or as set, for the planning processes', () => {
    const set = {
      SMALLEST_AMOUNT_USD_BASE_SEPOLIA: '0.5',
      SMALLEST_AMOUNT_USD_ARBITRUM_SEPOLIA: 'gas',
    }
    for (const role of ['api', 'worker'] as const) {
      expect(loadConfig(role, { ...complete, ...set }).limits).toMatchObject({
        smallest: {
          ...{ 'ethereum-sepolia': 0n, 'arbitrum-sepolia': 'gas', 'base-sepolia': 500_000n },
        },
      })
    }
    expect(refusal('api', { ...complete, SMALLEST_AMOUNT_USD_BASE_SEPOLIA: '-1' })).toContain(
      'SMALLEST_AMOUNT_USD_BASE_SEPOLIA: must be `gas` or dollars',
    )
  })

  test('signer: the treasury pays a limited sum a day on a public network', () => {
    const unitsOf = (more: object) =>
      dailyLimitsOf(loadConfig('signer', { ...complete, ...more })).fundingDailyUnits
    expect(unitsOf({})).toBe(100_000_000n)
    expect(unitsOf({ NETWORK: 'devnet', DEVNET_FILE: '/devnet.json' })).toBeUndefined()
    expect(unitsOf({ FUNDING_DAILY_LIMIT_USD: '3' })).toBe(3_000_000n)
  })

  test('keeps the order of several RPC URLs of a chain', () => {
    const [first, second] = ['https://one.example/hunter2', 'http://two:8545']
    const settings = { ...complete, RPC_URL_BASE_SEPOLIA: `${first}, ${second}` }
    expect(loadConfig('api', settings).rpcUrls['base-sepolia']).toEqual([first, second])
  })

  test('signer: requires its KEK, and no Temporal', () => {
    expect(loadConfig('signer', { ...common, KEK_FILE: 'kek' })).toMatchObject({
      ...{ SENDERS_PER_CHAIN: 2, OPERATION_GAS_ETH: 10n ** 17n },
    })
    expect(refusal('signer', common)).toContain('KEK_FILE')
  })

  test('limits: the defaults, or as set; daily limits only where set', () => {
    const settings = { ...common, KEK_FILE: 'kek' }
    const usual = {
      ...{ swapLossBps: 100n, swapDriftBps: 50n, bridgeFeeBps: 20n },
      ...{ utilizationBps: 9_800n, cashTimes: 10n },
    }
    const { limits, DAILY_LIMIT_USD } = loadConfig('signer', settings)
    expect({ limits, DAILY_LIMIT_USD }).toEqual({ limits: usual, DAILY_LIMIT_USD: undefined })
    const set = { SWAP_MAX_LOSS_BPS: '30', WALLET_DAILY_LIMIT_USD: '2500' }
    expect(loadConfig('signer', { ...settings, ...set })).toMatchObject({
      ...{ limits: { swapLossBps: 30n }, WALLET_DAILY_LIMIT_USD: 2_500_000_000n },
    })
    expect(loadConfig('api', { ...complete, BRIDGE_MAX_FEE_BPS: '0' }).limits.bridgeFeeBps).toBe(0n)
    for (const bad of ['0', '-1', '1.5', '']) {
      const changed = { ...settings, DAILY_LIMIT_USD: bad, SWAP_MAX_LOSS_BPS: '10001' }
      const message = refusal('signer', changed)
      expect(message).toContain('  SWAP_MAX_LOSS_BPS: ')
      if (bad !== '') expect(message).toContain('  DAILY_LIMIT_USD: ')
    }
  })

  test('signer: the highest cost of an operation is an amount of ETH above zero', () => {
    const at = (OPERATION_GAS_ETH: string) => ({ ...common, KEK_FILE: 'kek', OPERATION_GAS_ETH })
    expect(loadConfig('signer', at('0.0025')).OPERATION_GAS_ETH).toBe(2_500_000_000_000_000n)
    for (const amount of ['0', '0.0', '-1', '1e3', 'ten', '0.0000000000000000001']) {
      expect(refusal('signer', at(amount))).toContain('OPERATION_GAS_ETH')
    }
  })

  test('signer: refills of senders by chain, in ETH', () => {
    const settings = {
      ...{ ...common, KEK_FILE: 'kek', REFILL_HIGHEST_ETH_BASE_SEPOLIA: '0.25' },
      REFILL_DAILY_ETH_ARBITRUM_SEPOLIA: '0',
    }
    const { refills } = loadConfig('signer', settings)
    const milli = 10n ** 15n
    expect(refills).toEqual({
      'ethereum-sepolia': {
        ...{ highestWei: 50n * milli, dailyWei: 200n * milli, reserveWei: 10n * milli },
      },
      'arbitrum-sepolia': { highestWei: 10n * milli, dailyWei: 0n, reserveWei: 2n * milli },
      'base-sepolia': { highestWei: 250n * milli, dailyWei: 40n * milli, reserveWei: 2n * milli },
    })
  })

  test.each(['-1', '1e3', '0.0000000000000000001', 'much'])('error: signer with %s ETH', (eth) => {
    const settings = { ...common, KEK_FILE: 'kek', REFILL_RESERVE_ETH_ETHEREUM_SEPOLIA: eth }
    expect(refusal('signer', settings)).toContain('REFILL_RESERVE_ETH_ETHEREUM_SEPOLIA: must be')
  })

  test('relayer: requires the attestation service, and neither a KEK nor Temporal', () => {
    const devnet = { ...common, NETWORK: 'devnet', DEVNET_FILE: 'devnet.json' }
    expect(refusal('relayer', devnet)).toContain('ATTESTATION_URL')
    expect(loadConfig('relayer', common)).toMatchObject({ NETWORK: 'testnet' })
  })

  test.each(['worker', 'relayer', 'signer'] as const)(
    '%s: listens and leads on a direct connection beside a pooler',
    (role) => {
      const direct = 'postgres://steward_worker:hunter2@primary:5432/steward'
      const { DATABASE_URL } = common
      expect(loadConfig(role, complete).directDatabaseUrl).toBe(DATABASE_URL)
      const pooled = { ...complete, DATABASE_URL_DIRECT: direct }
      expect(loadConfig(role, pooled)).toMatchObject({ DATABASE_URL, directDatabaseUrl: direct })
      expect(loadConfig(role, { ...pooled, DATABASE_URL_DIRECT: '' })).toMatchObject({
        directDatabaseUrl: DATABASE_URL,
      })
    },
  )

  test('an empty variable counts as absent', () => {
    expect(loadConfig('api', { ...complete, API_PORT: '' }).API_PORT).toBe(3_000)
    expect(refusal('api', { ...complete, DATABASE_URL: '' })).toContain('DATABASE_URL')
  })

  test('error: names every invalid variable at once', () => {
    const message = refusal('api', { NETWORK: 'moon', API_PORT: 'x' })
    const names = ['NETWORK', 'API_PORT', 'DATABASE_URL', 'TEMPORAL_ADDRESS']
    names.push('RPC_URL_ETHEREUM_SEPOLIA', 'RPC_URL_ARBITRUM_SEPOLIA', 'RPC_URL_BASE_SEPOLIA')
    for (const name of names) expect(message).toContain(`  ${name}: `)
  })

  test('devnet: requires its addresses', () => {
    const devnet = { ...complete, NETWORK: 'devnet' }
    const names = { DEVNET_FILE: 'devnet.json', ATTESTATION_URL: 'http://127.0.0.1:8548' }
    for (const name of Object.keys(names)) {
      expect(refusal('relayer', { ...devnet, ...names, [name]: '' })).toContain(name)
    }
    expect(loadConfig('relayer', { ...devnet, ...names })).toMatchObject(names)
    for (const role of ['api', 'worker', 'signer'] as const) {
      expect(loadConfig(role, { ...devnet, DEVNET_FILE: 'devnet.json' }).NETWORK).toBe('devnet')
    }
  })

  test('testnet: only the relayer uses the attestation service of Circle', () => {
    const { ATTESTATION_URL } = loadConfig('relayer', complete)
    expect(ATTESTATION_URL).toBe('https://iris-api-sandbox.circle.com')
    for (const role of ['api', 'worker', 'signer'] as const) {
      expect(loadConfig(role, { ...complete, ATTESTATION_URL })).not.toHaveProperty(
        'ATTESTATION_URL',
      )
    }
  })

  test.each([
    ['API_PORT', ' '],
    ['API_PORT', '-1'],
    ['API_PORT', '65536'],
    ['API_PORT', '3000.5'],
    ['API_PORT', '0x10'],
    ['API_PORT', '1e3'],
    ['LOG_LEVEL', 'loud'],
    ['DATABASE_URL', 'mysql://user:hunter2@db'],
    ['DATABASE_URL', 'hunter2'],
    ['DATABASE_URL_DIRECT', 'mysql://user:hunter2@db'],
    ['RPC_URL_BASE_SEPOLIA', 'hunter2'],
    ['RPC_URL_BASE_SEPOLIA', 'file:///hunter2'],
    ['RPC_URL_BASE_SEPOLIA', 'ws://node/hunter2'],
    ['RPC_URL_BASE_SEPOLIA', 'https://node/hunter2,ws://node/hunter2'],
    ['RPC_URL_BASE_SEPOLIA', 'https://node/hunter2,'],
    ['RPC_URL_BASE_SEPOLIA', 'https://node/hunter2,https://node/hunter2'],
  ])('error: %s=%j, without repeating it', (name, value) => {
    const message = refusal('api', { ...complete, [name]: value })
    expect(message).toContain(name)
    expect(message).not.toContain('hunter2')
  })

  test('relayer: error: an invalid URL of the attestation service, without repeating it', () => {
    const message = refusal('relayer', { ...complete, ATTESTATION_URL: 'hunter2' })
    expect(message).toContain('ATTESTATION_URL')
    expect(message).not.toContain('hunter2')
  })

  test.each(['0', '17'])('error: signer with %s senders per chain', (senders) => {
    const environment = { ...complete, SENDERS_PER_CHAIN: senders }
    expect(refusal('signer', environment)).toContain('SENDERS_PER_CHAIN')
  })

  test('accepts a database behind a socket', () => {
    const url = 'postgres:///steward?host=/var/run/postgresql'
    expect(loadConfig('api', { ...complete, DATABASE_URL: url }).DATABASE_URL).toBe(url)
  })
})
