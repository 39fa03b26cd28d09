import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { devnetTerms } from '../../dev/devnet/chains.js'
import { lendingProtocol } from '../../evm/lending/markets.js'
import { createWorld, usdcUnits, type World } from '../relayer/world/fixture.js'
import { lendIn, submitLend } from '../relayer/world/planned.js'
import type { Market } from '../../evm/registry.js'
import type { StoredWallet } from '../../db/accounts/wallets.js'

let world: World
let vault: Market

beforeAll(async () => {
  const terms = devnetTerms['arbitrum-sepolia']
  world = await createWorld({ senderCount: 1, terms: { ...terms, extras: ['vault'] } })
  const found = world.chain.markets.find(({ protocol }) => protocol === 'erc4626')
  if (!found) throw new Error('There is no vault.')
  vault = found
})
afterAll(() => world?.stop())

const positionOf = (wallet: StoredWallet) =>
  lendingProtocol(vault).readPosition(world.driver().client, vault, {
    ...{ wallet: wallet.address, block: 'latest' },
  })
/** Raises the price of a share: money that belongs to all its holders. */
const donate = (units: bigint) => world.mint({ address: vault.address }, units)

describe('a deposit into a vault', () => {
  test('credits its shares, also on top of earlier ones', async () => {
    const wallet = await world.createWallet(3n * usdcUnits)
    await lendIn(world, wallet, vault, usdcUnits)
    await lendIn(world, wallet, vault, 2n * usdcUnits)
    expect(await positionOf(wallet)).toBeGreaterThanOrEqual(3n * usdcUnits - 4n)
    expect(await world.usdcOf(wallet.address)).toBe(0n)
  })

  test('with fewer shares than were promised reverts, and the money stays in the wallet', async () => {
    const wallet = await world.createWallet(2n * usdcUnits)
    await lendIn(world, wallet, vault, usdcUnits)
    const before = await positionOf(wallet)
    const { operationId } = await submitLend(world, wallet, { market: vault, units: usdcUnits })
    await world.sign()
    expect(await world.row(operationId)).toMatchObject({ state: 'signed' })
    // A hundredth of all deposits, in a block before the deposit.
    await donate(1_000n * usdcUnits)
    await world.mine()
    await world.broadcast()
    await world.mine()
    await world.index()
    expect(await world.row(operationId)).toMatchObject({ state: 'confirmed', success: false })
    expect(await world.usdcOf(wallet.address)).toBe(usdcUnits)
    expect(await positionOf(wallet)).toBeGreaterThanOrEqual(before)
  })

  test('is not signed while its shares round to nothing', async () => {
    const wallet = await world.createWallet(usdcUnits)
    const clean = await world.rpc<string>('evm_snapshot')
    // A share costs more than the deposit.
    await donate(10n ** 18n)
    await world.mine()
    await world.index()
    const { operationId } = await submitLend(world, wallet, { market: vault, units: usdcUnits })
    await world.sign()
    const row = await world.row(operationId)
    expect(row).toMatchObject({ state: 'deferred', code: 'DEPOSIT_FAILED', payload: null })
    expect(row?.message).toContain('would return shares worth 0 base units for 1000000 now')
    expect(await world.usdcOf(wallet.address)).toBe(usdcUnits)
    await world.rpc('evm_revert', [clean])
  })
})
