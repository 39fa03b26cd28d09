import { MaxUint256, ZeroAddress } from 'ethers'
import { readRouterArtifact, readUniswapArtifact } from './artifacts.js'
import { type Contract, type Plan } from './plan.js'

/**
 * Fee tier of pools of two dollar tokens, in millionths. Public networks have it, a fresh factory does not.
 */
const STABLE_FEE = 100
const STABLE_TICK_SPACING = 1

/** Liquidity lies between prices of 0.99 and 1.01. A tick is a ten-thousandth. */
const WIDEST_TICK = 100

/** A price of one in pool format: a square root with 96 binary places. */
const EVEN_PRICE = 2n ** 96n

/** A time that no chain of the devnet reaches. */
const NEVER = 2n ** 40n

/**
 * Plans Uniswap v3 with one pool of two tokens of the same value and decimals, at a price of one.
 *
 * @param owner - Holds `units` of each token in base units, and receives the liquidity's NFT.
 */
export function planUniswap(
  plan: Plan,
  owner: string,
  weth: Contract,
  { tokens, units }: { tokens: [Contract, Contract]; units: bigint },
): { factory: string; quoter: string; router: string } {
  const factory = plan.deploy(readUniswapArtifact('UniswapV3Factory', 'core'))
  const periphery = (name: string, args: unknown[]) =>
    plan.deploy(readUniswapArtifact(name, 'periphery'), args)
  const places = [factory.address, weth.address]
  // The last argument only renders images of liquidity.
  const positions = periphery('NonfungiblePositionManager', [...places, ZeroAddress])
  const quoter = periphery('lens/QuoterV2', places)
  const routerPlaces = [ZeroAddress, factory.address, positions.address, weth.address]
  const router = plan.deploy(readRouterArtifact(), routerPlaces)

  plan.call(factory, 'enableFeeAmount', [STABLE_FEE, STABLE_TICK_SPACING])
  const addresses = tokens.map(({ address }) => address).sort(compareAddresses)
  const pool = [...addresses, STABLE_FEE]
  plan.call(positions, 'createAndInitializePoolIfNecessary', [...pool, EVEN_PRICE], {
    gasLimit: 8_000_000,
  })
  for (const token of tokens) plan.call(token, 'approve', [positions.address, MaxUint256])
  const position = [...pool, -WIDEST_TICK, WIDEST_TICK, units, units, 0n, 0n, owner, NEVER]
  plan.call(positions, 'mint', [position])
  return { factory: factory.address, quoter: quoter.address, router: router.address }
}

const compareAddresses = (a: string, b: string) => (BigInt(a) < BigInt(b) ? -1 : 1)
