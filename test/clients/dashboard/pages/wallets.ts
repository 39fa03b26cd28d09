import { expect, test } from 'vitest'
import { balancesAnswer, positionsAnswer } from '../../../../api/schemas/examples/resources.js'
import { makeWallet, ownFaults, type PageWorld } from '../pageWorld.js'

const TEST_MS = 60_000

const [position] = positionsAnswer.positions
const positions = [
  { ...position, chain: 'arbitrum-sepolia', currentValue: '1000.1', earned: '0.109' },
  { ...position, chain: 'base-sepolia', currentValue: '234.409', earned: '0.2' },
  { ...position, chain: 'ethereum-sepolia', asset: 'TUSD', currentValue: '5', earned: '-0.75' },
]

export function testWallets(world: () => PageWorld): void {
  /** The list and the page of a wallet with these answers of the chains. */
  async function openWith(balances: object, positionsHeld: object) {
    const person = await world().newPerson()
    const { id } = await makeWallet(world(), person, 'alice')
    const { page, faults } = await world().open(person)
    await page.setViewportSize({ width: 1280, height: 900 })
    const answer = (path: string, json: object) =>
      page.route(`**/dashboard/api/${path}/${id}`, (route) => route.fulfill({ json }))
    await answer('balances', { ...balancesAnswer, ...balances })
    await answer('positions', { ...positionsAnswer, ...positionsHeld })
    const cellsOf = async () => {
      await page.goto(`${world().host}/dashboard/wallets`)
      const row = page.getByRole('row').filter({ hasText: 'alice' })
      return (name: string) => row.getByRole('cell', { name, exact: true })
    }
    const sumsOf = async (title: string) => {
      await page.goto(`${world().host}/dashboard/wallets/${id}`)
      const head = page.getByRole('heading', { name: title, exact: true }).locator('..')
      return (text: string) => head.getByText(text, { exact: true })
    }
    return { page, faults, cellsOf, sumsOf }
  }

  test(
    'list and page of a wallet show what is idle, lent and earned, by token',
    async () => {
      const { faults, cellsOf, sumsOf } = await openWith({ totalValueUsd: 1234.5 }, { positions })
      const cell = await cellsOf()
      await cell('$1,234.50').waitFor()
      await cell('1,234.50 USDC, 5.00 TUSD').waitFor()
      await cell('0.30 USDC, −0.75 TUSD').waitFor()
      const idle = await sumsOf('Balances')
      await idle('Idle $1,234.50').waitFor()
      const sums = await sumsOf('Positions')
      await sums('Lent 1,234.50 USDC, 5.00 TUSD, earned 0.30 USDC, −0.75 TUSD').waitFor()
      expect(ownFaults(faults)).toEqual([])
    },
    TEST_MS,
  )

  test(
    'a wallet without positions has lent and earned 0',
    async () => {
      const { cellsOf, sumsOf } = await openWith({ totalValueUsd: 0 }, { positions: [] })
      const cell = await cellsOf()
      await cell('$0.00').waitFor()
      await cell('0').nth(1).waitFor()
      const sums = await sumsOf('Positions')
      await sums('Lent 0, earned 0').waitFor()
    },
    TEST_MS,
  )

  test(
    'sums that miss a chain are not shown',
    async () => {
      const unavailable = ['base-sepolia']
      const { cellsOf, sumsOf } = await openWith({ unavailable }, { unavailable })
      const cell = await cellsOf()
      await cell('–').nth(2).waitFor()
      const sums = await sumsOf('Positions')
      await sums('Lent –, earned –').waitFor()
    },
    TEST_MS,
  )
}
