import { MaxUint256, parseEther, parseUnits } from 'ethers'
import { type ChainName, type DevnetContracts } from '../../../evm/registry.js'
import { planAave } from './aave.js'
import { readAaveArtifact, type OwnArtifacts } from './artifacts.js'
import { type Terms } from '../chains.js'
import { type Contract, type Plan } from './plan.js'
import { planUniswap } from './uniswap.js'

const dollars = (amount: string) => parseUnits(amount, 6)

/** Supply in Aave, including the vault's part where there is a vault. */
const suppliedDollars = dollars('1010000')
const vaultDollars = { deposited: dollars('100000'), lent: dollars('90000') }
const poolDollars = dollars('1000000')
const cometDollars = {
  supplied: dollars('1000000'),
  borrowed: dollars('620000'),
  /** Pays interest for three years. */
  reserves: dollars('50000'),
}
/** 2 % per year at full utilization, per second and scaled by 1e18. */
const COMET_SLOPE = 634_195_839n

type Site = { plan: Plan; owner: string; own: OwnArtifacts; usdc: Contract; weth: Contract }
type Aave = { pool: Contract; aToken: string; dollarFeed: Contract }

/** Plans all lending markets of a chain, with liquidity. The owner of the plan may mint USDC. */
export function planMarkets(
  given: Omit<Site, 'weth'>,
  name: ChainName,
  terms: Terms,
): Omit<DevnetContracts, 'usdc' | 'tokenMessenger' | 'messageTransmitter'> {
  const { plan, usdc, own } = given
  const site = { ...given, weth: plan.deploy(readAaveArtifact('dependencies/weth/WETH9')) }
  const ethFeed = plan.deploy(own.DevFeed, [parseUnits('3000', 8), 'ETH / USD'])
  const has = (extra: Terms['extras'][number]) => terms.extras.includes(extra)
  const testDollar = has('testDollar') ? planTestDollar(site) : undefined
  const asset = terms.aaveAsset === 'testDollar' ? testDollar : usdc
  if (!asset) throw new Error(`Aave on ${name} lists a test dollar that is not deployed.`)
  const aave = planLending(site, name, terms, { asset, ethFeed })
  return {
    ethUsdFeed: ethFeed.address,
    usdcUsdFeed: aave.dollarFeed.address,
    aavePool: aave.pool.address,
    aaveAsset: asset.address,
    aToken: aave.aToken,
    ...(testDollar ? { testDollar: testDollar.address, uniswap: planPool(site, testDollar) } : {}),
    ...(has('comet') ? { comet: planComet(site) } : {}),
    ...(has('vault') ? { vault: planVault(site, aave) } : {}),
  }
}

/** A token of Aave's tests that every account may mint, as the faucet's token on a public testnet. */
function planTestDollar({ plan }: Site): Contract {
  const artifact = readAaveArtifact('mocks/tokens/MintableERC20')
  return plan.deploy(artifact, ['Test Dollar', 'TUSD', 6])
}

function planLending(
  site: Site,
  name: ChainName,
  terms: Terms,
  { asset, ethFeed }: { asset: Contract; ethFeed: Contract },
): Aave {
  const { plan, owner, own, usdc, weth } = site
  const { base, slope1, borrowed, extras } = terms
  const feed = plan.deploy(own.DevFeed, [parseUnits('1', 8), 'USDC / USD'])
  const symbol = asset === usdc ? 'USDC' : 'TUSD'
  const { pool, firstAToken } = planAave(plan, name, owner, [
    {
      symbol,
      decimals: 6,
      token: asset,
      feed,
      ltv: 7700,
      liquidation: 8000,
      rates: { optimal: 90, base, slope1, slope2: 60 },
    },
    {
      symbol: 'WETH',
      decimals: 18,
      token: weth,
      feed: ethFeed,
      ltv: 8000,
      liquidation: 8250,
      rates: { optimal: 80, base: 0, slope1: 3.3, slope2: 80 },
    },
  ])
  const vaultPart = extras.includes('vault') ? vaultDollars.lent : 0n
  const amounts = { supplied: suppliedDollars - vaultPart, borrowed: dollars(borrowed) }
  planSeed(site, pool, asset, amounts)
  return { pool, aToken: firstAToken, dollarFeed: feed }
}

function planSeed(
  site: Site,
  pool: Contract,
  asset: Contract,
  { supplied, borrowed }: { supplied: bigint; borrowed: bigint },
): void {
  const { plan, owner, weth } = site
  const variableRate = 2
  const collateral = parseEther('1000')
  planMoney(site, asset, supplied, pool)
  plan.call(weth, 'deposit', [], { value: collateral })
  plan.call(weth, 'approve', [pool.address, MaxUint256])
  plan.call(pool, 'supply', [asset.address, supplied, owner, 0])
  plan.call(pool, 'supply', [weth.address, collateral, owner, 0])
  plan.call(pool, 'borrow', [asset.address, borrowed, variableRate, 0, owner])
}

function planPool(site: Site, testDollar: Contract): NonNullable<DevnetContracts['uniswap']> {
  const { plan, owner, weth, usdc } = site
  const tokens: [Contract, Contract] = [usdc, testDollar]
  for (const token of tokens) planMint(site, token, poolDollars)
  return planUniswap(plan, owner, weth, { tokens, units: poolDollars })
}

function planComet(site: Site): string {
  const { plan, own, usdc } = site
  const { supplied, borrowed, reserves } = cometDollars
  const comet = plan.deploy(own.DevComet, [usdc.address, COMET_SLOPE])
  planMoney(site, usdc, supplied + reserves, comet)
  plan.call(comet, 'supply', [usdc.address, supplied])
  plan.call(usdc, 'transfer', [comet.address, reserves])
  plan.call(comet, 'borrowForAll', [borrowed])
  return comet.address
}

function planVault(site: Site, { pool, aToken }: Aave): string {
  const { plan, owner, own, usdc } = site
  const vault = plan.deploy(own.DevVault, [usdc.address, pool.address, aToken])
  planMoney(site, usdc, vaultDollars.deposited, vault)
  plan.call(vault, 'deposit', [vaultDollars.deposited, owner])
  return vault.address
}

/** Gives the owner money and approves a contract to spend it. */
function planMoney(site: Site, token: Contract, units: bigint, spender: Contract): void {
  planMint(site, token, units)
  site.plan.call(token, 'approve', [spender.address, MaxUint256])
}

function planMint({ plan, owner }: Site, token: Contract, units: bigint): void {
  plan.call(token, 'mint(address,uint256)', [owner, units])
}
