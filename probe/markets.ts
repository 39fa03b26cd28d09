import { Interface } from 'ethers'
import { isSameAddress } from '../chains/address.js'
import { tokensOf, type Market } from '../chains/registry.js'
import { ACTIVE, FROZEN, PAUSED } from '../protocols/lending/aaveV3.js'
import { failed, ok, warning, type Probe, type Question, type Row } from './look.js'

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

/** What keeps money from being lent: for as long as the market is so, or because it is another one. */
type Flaw = { lasts: boolean; detail: string }
const other = (detail: string): Flaw => ({ lasts: true, detail })
const passing = (detail: string): Flaw => ({ lasts: false, detail })

const checks: Record<Market['protocol'], (probe: Probe, market: Market) => Promise<Flaw[]>> = {
  async 'aave-v3'(probe, { address, underlying, receiptToken }) {
    return checkReserve(probe, { pool: address, asset: underlying, aToken: receiptToken })
  },

  async 'compound-v3'({ read }, { address: to, underlying, receiptToken }) {
    const [base, paused] = await Promise.all([
      read({ to, abi: comet, name: 'baseToken' }),
      read({ to, abi: comet, name: 'isSupplyPaused' }),
    ])
    if (!base || !paused) return [other(`there is no Comet at ${to}`)]
    return [
      ...(isAddress(base[0], underlying) ? [] : [other('its base token is another one')]),
      ...(isSameAddress(receiptToken, to) ? [] : [other('its receipt token is not itself')]),
      ...(paused[0] === true ? [passing('it is paused')] : []),
    ]
  },

  async erc4626(probe, { address: to, underlying, receiptToken, lendsTo }) {
    const [asset, below] = await Promise.all([
      probe.read({ to, abi: vault, name: 'asset' }),
      lendsTo ? checkReserve(probe, { ...lendsTo, asset: underlying }) : [],
    ])
    if (!asset) return [other(`there is no vault at ${to}`)]
    return [
      ...(isAddress(asset[0], underlying) ? [] : [other('its asset is another one')]),
      ...(isSameAddress(receiptToken, to) ? [] : [other('its receipt token is not itself')]),
      ...below,
    ]
  },
}

/** Markets and what they take. One that is only a candidate may be missing: it is not offered then. */
export async function checkMarkets(probe: Probe): Promise<Row[]> {
  const rows = await Promise.all(
    probe.chain.markets.map(async (market) => {
      const own = await checkMarket(probe, market)
      return market.isCandidate ? own.map(asCandidate) : own
    }),
  )
  return rows.flat()
}

function asCandidate(row: Row): Row {
  if (row.outcome === 'ok') return row
  return { ...row, outcome: 'warning', detail: `not offered: ${row.detail}` }
}

async function checkMarket(probe: Probe, market: Market): Promise<Row[]> {
  const { protocol, address, receiptToken } = market
  const missing = [address, receiptToken].find((place) => !probe.hasCode(place))
  if (missing) {
    const detail = `there is no contract at ${missing}`
    return [failed(`${protocol} market`, `market:${address}`, detail)]
  }
  const [flaws, token] = await Promise.all([
    checks[protocol](probe, market),
    checkUnderlying(probe, market),
  ])
  const capability = `lending:${address}` as const
  const found = [...flaws, ...token]
  const there = ok(`${protocol} market`, `market:${address}`, 'is there')
  if (found.length === 0) return [there, ok(`${protocol} terms`, capability, 'take the token')]
  const told = found.map(({ lasts, detail }) => {
    // What passes is read again for each plan.
    return (lasts ? failed : warning)(`${protocol} terms`, capability, detail)
  })
  return [there, ...told]
}

async function checkUnderlying({ chain, read }: Probe, { underlying }: Market): Promise<Flaw[]> {
  const token = tokensOf(chain).find(({ address }) => isSameAddress(address, underlying))
  if (!token) return [other(`its token ${underlying} is not listed`)]
  const answer = await read({ to: underlying, abi: erc20, name: 'decimals' })
  if (answer?.[0] === BigInt(token.decimals)) return []
  return [other(`${token.symbol} at ${underlying} is not a token of ${token.decimals} decimals`)]
}

type Reserve = { pool: string; asset: string; aToken: string }

async function checkReserve({ read }: Probe, reserve: Reserve): Promise<Flaw[]> {
  const ofToken = (name: string): Question => ({ to: reserve.aToken, abi: aToken, name })
  const data = { to: reserve.pool, abi: pool, name: 'getReserveData', args: [reserve.asset] }
  const [told, asset, its] = await Promise.all([
    read(data),
    read(ofToken('UNDERLYING_ASSET_ADDRESS')),
    read(ofToken('POOL')),
  ])
  if (!told) return [other(`there is no pool of Aave at ${reserve.pool}`)]
  const { configuration, aToken: listed } = told as unknown as Listed
  if (!isAddress(listed, reserve.aToken)) return [other('it does not list the token')]
  return [
    ...(isAddress(asset?.[0], reserve.asset) ? [] : [other('its aToken is of another token')]),
    ...(isAddress(its?.[0], reserve.pool) ? [] : [other('its aToken is of another pool')]),
    ...((configuration & ACTIVE) === 0n ? [passing('it is not active')] : []),
    ...((configuration & FROZEN) === 0n ? [] : [passing('it is frozen')]),
    ...((configuration & PAUSED) === 0n ? [] : [passing('it is paused')]),
  ]
}

type Listed = { configuration: bigint; aToken: string }

const isAddress = (answer: unknown, address: string) =>
  typeof answer === 'string' && isSameAddress(answer, address)
