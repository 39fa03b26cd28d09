import { Interface } from 'ethers'
import { isSameAddress } from '../../evm/address.js'
import { tokensOf, type Market } from '../../evm/registry.js'
import { ACTIVE, FROZEN, PAUSED } from '../../evm/lending/aaveV3.js'
import { failed, ok, warning, type Probe, type Question, type CheckResult } from './look.js'

/** The part of a reserve's data that every version of Aave v3 has. */
const pool = new Interface([
  `function getReserveData(address asset) view returns (uint256 configuration, uint128, uint128, uint128,
    uint128, uint128, uint40, uint16, address aToken)`,
])
const aToken = new Interface([
  'function UNDERLYING_ASSET_ADDRESS() view returns (address)',
  'function POOL() view returns (address)',
])
const comet = new Interface([
  'function baseToken() view returns (address)',
  'function isSupplyPaused() view returns (bool)',
])
const vault = new Interface(['function asset() view returns (address)'])
const erc20 = new Interface(['function decimals() view returns (uint8)'])

/** A reason why a market accepts no deposits. `isPermanent`: the contract differs from its registry entry. */
type Flaw = { isPermanent: boolean; detail: string }
const permanent = (detail: string): Flaw => ({ isPermanent: true, detail })
const temporary = (detail: string): Flaw => ({ isPermanent: false, detail })

const checks: Record<Market['protocol'], (probe: Probe, market: Market) => Promise<Flaw[]>> = {
  async 'aave-v3'(probe, { address, underlying, receiptToken }) {
    return checkReserve(probe, { pool: address, asset: underlying, aToken: receiptToken })
  },

  async 'compound-v3'({ read }, { address: to, underlying, receiptToken }) {
    const [base, paused] = await Promise.all([
      read({ to, abi: comet, name: 'baseToken' }),
      read({ to, abi: comet, name: 'isSupplyPaused' }),
    ])
    if (!base || !paused) return [permanent(`no Comet at ${to}`)]
    return [
      ...(isAddress(base[0], underlying)
        ? []
        : [permanent('its base token differs from the registry')]),
      ...(isSameAddress(receiptToken, to)
        ? []
        : [permanent('its receipt token differs from the market')]),
      ...(paused[0] === true ? [temporary('it is paused')] : []),
    ]
  },

  async erc4626(probe, { address: to, underlying, receiptToken, lendsTo }) {
    const [asset, below] = await Promise.all([
      probe.read({ to, abi: vault, name: 'asset' }),
      lendsTo ? checkReserve(probe, { ...lendsTo, asset: underlying }) : [],
    ])
    if (!asset) return [permanent(`no vault at ${to}`)]
    return [
      ...(isAddress(asset[0], underlying)
        ? []
        : [permanent('its asset differs from the registry')]),
      ...(isSameAddress(receiptToken, to)
        ? []
        : [permanent('its receipt token differs from the market')]),
      ...below,
    ]
  },
}

/** Checks the markets and their terms. A missing candidate is a warning, and is not offered. */
export async function checkMarkets(probe: Probe): Promise<CheckResult[]> {
  const rows = await Promise.all(
    probe.chain.markets.map(async (market) => {
      const own = await checkMarket(probe, market)
      return market.isCandidate ? own.map((row) => asCandidate(market, row)) : own
    }),
  )
  return rows.flat()
}

/** A failed check of a candidate is a warning of its own kind. A warning of any other kind disables nothing. */
function asCandidate({ address }: Market, row: CheckResult): CheckResult {
  if (row.outcome !== 'failed') return row
  const detail = `not offered: ${row.detail}`
  return { ...row, capability: `candidate:${address}`, outcome: 'warning', detail }
}

async function checkMarket(probe: Probe, market: Market): Promise<CheckResult[]> {
  const { protocol, address, receiptToken } = market
  const missing = [address, receiptToken].find((contract) => !probe.hasCode(contract))
  if (missing) {
    const detail = `no contract at ${missing}`
    return [failed(`${protocol} market`, `market:${address}`, detail)]
  }
  const [flaws, token] = await Promise.all([
    checks[protocol](probe, market),
    checkUnderlying(probe, market),
  ])
  const capability = `lending:${address}` as const
  const found = [...flaws, ...token]
  const deployed = ok(`${protocol} market`, `market:${address}`, 'is deployed')
  if (found.length === 0) {
    return [deployed, ok(`${protocol} terms`, capability, 'accept the token')]
  }
  const terms = found.map(({ isPermanent, detail }) => {
    // Temporary flaws do not disable the market, because each plan reads them again.
    return (isPermanent ? failed : warning)(`${protocol} terms`, capability, detail)
  })
  return [deployed, ...terms]
}

async function checkUnderlying({ chain, read }: Probe, { underlying }: Market): Promise<Flaw[]> {
  const token = tokensOf(chain).find(({ address }) => isSameAddress(address, underlying))
  if (!token) return [permanent(`its token ${underlying} is missing in the registry`)]
  const answer = await read({ to: underlying, abi: erc20, name: 'decimals' })
  if (answer?.[0] === BigInt(token.decimals)) return []
  return [permanent(`${token.symbol} at ${underlying} does not have ${token.decimals} decimals`)]
}

type ProbedReserve = { pool: string; asset: string; aToken: string }

async function checkReserve({ read }: Probe, reserve: ProbedReserve): Promise<Flaw[]> {
  const ofToken = (name: string): Question => ({ to: reserve.aToken, abi: aToken, name })
  const data = { to: reserve.pool, abi: pool, name: 'getReserveData', args: [reserve.asset] }
  const [stored, asset, aTokenPool] = await Promise.all([
    read(data),
    read(ofToken('UNDERLYING_ASSET_ADDRESS')),
    read(ofToken('POOL')),
  ])
  if (!stored) return [permanent(`no Aave pool at ${reserve.pool}`)]
  const { configuration, aToken: listed } = stored as unknown as CheckedReserve
  if (!isAddress(listed, reserve.aToken)) return [permanent('the pool does not list the token')]
  return [
    ...(isAddress(asset?.[0], reserve.asset)
      ? []
      : [permanent('its aToken has another underlying token')]),
    ...(isAddress(aTokenPool?.[0], reserve.pool)
      ? []
      : [permanent('its aToken belongs to another pool')]),
    ...((configuration & ACTIVE) === 0n ? [temporary('it is not active')] : []),
    ...((configuration & FROZEN) === 0n ? [] : [temporary('it is frozen')]),
    ...((configuration & PAUSED) === 0n ? [] : [temporary('it is paused')]),
  ]
}

type CheckedReserve = { configuration: bigint; aToken: string }

const isAddress = (answer: unknown, address: string) =>
  typeof answer === 'string' && isSameAddress(answer, address)
