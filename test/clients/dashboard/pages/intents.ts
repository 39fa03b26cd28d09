import { expect, test } from 'vitest'
import { createApiKey } from '../../../../db/accounts/accounts.js'
import { connect } from '../../../../db/client/connect.js'
import { newId } from '../../../../db/client/ids.js'
import { dispatchEvents } from '../../../../db/webhooks/sending.js'
import { dryRunAnswer } from '../../../../api/schemas/examples/plannedIntent.js'
import { insertTestIntent } from '../../../db/rows.js'
import { barriersInThemes } from '../axe.js'
import { STAND_IN_NAMESPACE } from '../../../api/api.js'
import { TEMPORAL_UI, makeWallet, ownFaults, type PageWorld } from '../pageWorld.js'
import { untilShown } from '../people.js'
import type { Page, Route } from 'playwright-core'

const TEST_MS = 90_000

export function testIntents(world: () => PageWorld): void {
  const idsOn = async (page: Page) =>
    page
      .locator('tbody a[data-row]')
      .evaluateAll((links) =>
        links.map((link) => (link as unknown as { href: string }).href.split('/').at(-1)),
      )

  test('an operator opens the workflow in the Temporal namespace of the service', async () => {
    const operator = await world().newPerson({ isOperator: true })
    const wallet = await makeWallet(world(), operator, 'alice')
    const id = await insertTestIntent(world().db, wallet, 'completed')
    const { page } = await world().open(operator)
    await page.goto(`${world().host}/dashboard/intents/${id}`)
    const link = page.getByRole('link', { name: 'Workflow' })
    const namespace = `${TEMPORAL_UI}/namespaces/${STAND_IN_NAMESPACE}`
    expect(await link.getAttribute('href')).toBe(`${namespace}/workflows/${id}`)
  })

  test(
    'filters by user, failure code and days are in the URL, and the back button undoes them',
    async () => {
      const person = await world().newPerson({ role: 'viewer' })
      const owner = await world().newPerson({ accountId: person.accountId })
      const [alice, bob] = [
        await makeWallet(world(), owner, 'alice'),
        await makeWallet(world(), owner, 'bob'),
      ]
      const { db } = world()
      const error = { code: 'SWAP_FAILED', message: 'test' }
      const deposit = await insertTestIntent(db, alice, 'failed')
      const swap = await insertTestIntent(db, alice, 'failed', { error })
      const completed = await insertTestIntent(db, bob, 'completed')
      const { page, faults } = await world().open(person)
      await page.goto(`${world().host}/dashboard/intents`)
      await page.locator(`a[href$="${completed}"]`).waitFor()
      expect(await idsOn(page)).toEqual([completed, swap, deposit])
      await page.getByRole('link', { name: 'alice' }).first().waitFor()
      await page.getByText('SWAP_FAILED', { exact: true }).last().waitFor()

      const until = (count: number) =>
        page.waitForFunction(`document.querySelectorAll('tbody a[data-row]').length === ${count}`)
      await page.getByLabel(/^Intents of a user/).fill('alice')
      await page.keyboard.press('Enter')
      await until(2)
      await page.getByLabel('Failure code').selectOption('SWAP_FAILED')
      await until(1)
      expect(await idsOn(page)).toEqual([swap])
      const today = new Date().toISOString().slice(0, 10)
      await page.getByLabel('From', { exact: true }).fill(today)
      await page.waitForURL((url) => url.searchParams.get('from') === today)
      await until(1)
      const { searchParams } = new URL(page.url())
      expect(Object.fromEntries(searchParams)).toEqual({
        ...{ userId: 'alice', errorCode: 'SWAP_FAILED', from: today },
      })
      expect(await barriersInThemes(page)).toEqual([])

      // The address shows the same to another member.
      const other = await world().open(owner)
      await other.page.goto(page.url())
      await other.page.locator(`a[href$="${swap}"]`).waitFor()
      expect(await idsOn(other.page)).toEqual([swap])

      await page.goBack()
      await page.goBack()
      await until(2)
      expect(new URL(page.url()).search).toBe('?userId=alice')
      await page.goBack()
      await until(3)
      expect(await page.getByLabel(/^Intents of a user/).inputValue()).toBe('')
      expect(ownFaults(faults)).toEqual([])
    },
    TEST_MS,
  )

  test(
    'an intent, its user, request, events and deliveries are one click apart, in both directions',
    async () => {
      const person = await world().newPerson({ role: 'developer' })
      const { accountId } = person
      const key = await createApiKey(world().db, accountId, { name: 'backend' })
      const hook = { id: newId('wh_'), account_id: accountId, url: 'https://example.com/hook' }
      await world().db('webhook').insert(hook)
      const wallet = await makeWallet(world(), person, 'alice')
      const body = { walletId: wallet.id, action: 'lend', amount: 1 }
      const { api, database } = world().world
      const created = await api.call('POST', '/v1/intents', { key, body })
      expect(created.status).toBe(201)
      const requestId = created.headers.get('x-request-id') ?? ''
      const worker = connect(database.urlAs('steward_worker'), 1)
      const sent = () => world().db('webhook_delivery').where({ intent_id: created.body.id })
      while ((await sent()).length === 0) await dispatchEvents(worker, 100)
      await worker.destroy()

      const { page, faults } = await world().open(person)
      const place = `/dashboard/intents/${created.body.id}`
      await page.goto(`${world().host}${place}`)
      await page.getByRole('link', { name: 'alice', exact: true }).waitFor()
      expect(await barriersInThemes(page)).toEqual([])

      // Request and back.
      await page.locator(`a[title="${requestId}"]`).click()
      const facts = page.getByRole('dialog', { name: 'Request' })
      await facts.locator(`a[title="${created.body.id}"]`).click()
      await page.waitForURL(`**${place}`)

      // Event, delivery and back to the event.
      const events = page.getByRole('list', { name: 'Events' })
      const row = events.getByRole('listitem').filter({ hasText: 'intent.created' })
      await row.getByRole('link', { name: hook.url }).click()
      const delivery = page.getByRole('dialog', { name: 'intent.created' })
      await page.waitForURL(`**/webhooks/${hook.id}?open=*`)
      await delivery.getByRole('link', { name: /^evt_/ }).click()
      await page.waitForURL(`**${place}#evt_*`)
      await events.locator('[aria-current=true]').waitFor()

      // User and back.
      await page.getByRole('link', { name: 'alice', exact: true }).click()
      await page.getByRole('heading', { name: 'Wallet of alice' }).waitFor()
      await page.locator(`a[href$="${place}"]`).click()
      await page.waitForURL(`**${place}`)
      expect(ownFaults(faults)).toEqual([])
    },
    TEST_MS,
  )

  test(
    'a link to a delivery beyond the first page opens it',
    async () => {
      const person = await world().newPerson({ role: 'viewer' })
      const hook = { id: newId('wh_'), account_id: person.accountId, url: 'https://example.com/' }
      await world().db('webhook').insert(hook)
      const rows = Array.from({ length: 30 }, (_, i) => ({
        ...{ webhook_id: hook.id, account_id: person.accountId, event_id: i + 1 },
        ...{ type: 'wallet.created', status: 'delivered', next_attempt_at: null },
      }))
      const [first] = await world()
        .db('webhook_delivery')
        .insert(rows)
        .returning<{ id: bigint }[]>('id')
      const { page } = await world().open(person)
      await page.goto(`${world().host}/dashboard/webhooks/${hook.id}?open=whd_${first?.id}`)
      const dialog = page.getByRole('dialog', { name: 'wallet.created' })
      await dialog.getByText(`whd_${first?.id}`).waitFor()
    },
    TEST_MS,
  )

  test(
    'offers only the actions of the intent, and a viewer none',
    async () => {
      const person = await world().newPerson()
      const viewer = await world().newPerson({ accountId: person.accountId, role: 'viewer' })
      const wallet = await makeWallet(world(), person, 'alice')
      const pending = await insertTestIntent(world().db, wallet, 'pending')
      const failed = await insertTestIntent(world().db, wallet, 'failed')
      const completed = await insertTestIntent(world().db, wallet, 'completed')
      const retried = await insertTestIntent(world().db, wallet, 'failed')
      await insertTestIntent(world().db, wallet, 'pending', { retry_of: retried })
      const shownTo = async (one: typeof person, id: string) => {
        const { page, context } = await world().open(one)
        await page.goto(`${world().host}/dashboard/intents/${id}`)
        await untilShown(page)
        await page.getByText('Created by request').waitFor()
        const names = await page.getByRole('button', { name: /^(Cancel|Retry)/ }).allInnerTexts()
        await context.close()
        return names
      }
      expect(await shownTo(person, pending)).toEqual(['Cancel intent'])
      expect(await shownTo(person, failed)).toEqual(['Retry from where the money is'])
      expect(await shownTo(person, completed)).toEqual([])
      expect(await shownTo(person, retried)).toEqual([])
      expect(await shownTo(viewer, pending)).toEqual([])
      expect(await shownTo(viewer, failed)).toEqual([])
    },
    TEST_MS,
  )

  test(
    'a failed intent names the time of its retry when the API does, and nothing otherwise',
    async () => {
      const person = await world().newPerson()
      const wallet = await makeWallet(world(), person, 'alice')
      const failed = await insertTestIntent(world().db, wallet, 'failed')
      const { page, faults } = await world().open(person)
      const hint = page.getByText(/^A retry is possible from/)
      const openWith = async (retryFrom?: string) => {
        await page.route(`**/api/intents/${failed}`, async (route: Route) => {
          const response = await route.fetch()
          const intent = (await response.json()) as object
          await route.fulfill({ response, json: { ...intent, actions: [], retryFrom } })
        })
        await page.goto(`${world().host}/dashboard/intents/${failed}`)
        await untilShown(page)
        await page.getByText('Created by request').waitFor()
        expect(await page.getByRole('button', { name: /^Retry/ }).count()).toBe(0)
      }
      const from = '2030-01-02T03:04:05.000Z'
      await openWith(from)
      expect(await hint.locator('time').getAttribute('datetime')).toBe(from)
      // A frozen wallet.
      await openWith()
      expect(await hint.count()).toBe(0)
      expect(ownFaults(faults)).toEqual([])
    },
    TEST_MS,
  )

  test(
    'a retry shows its plan, and is sent only when it is confirmed',
    async () => {
      const person = await world().newPerson()
      const wallet = await makeWallet(world(), person, 'alice')
      const failed = await insertTestIntent(world().db, wallet, 'failed')
      const next = await insertTestIntent(world().db, wallet, 'planning')
      const { page, faults } = await world().open(person)
      const sent: string[] = []
      let isRefused = true
      await page.route('**/retry*', (route: Route) => {
        const { search } = new URL(route.request().url())
        sent.push(search)
        if (!search) return route.fulfill({ status: 201, json: { id: next } })
        return isRefused
          ? route.fulfill({ status: 400, json: { error: 'X', message: 'Too little money.' } })
          : route.fulfill({ status: 200, json: dryRunAnswer })
      })
      await page.goto(`${world().host}/dashboard/intents/${failed}`)
      await page.getByRole('button', { name: 'Retry from where the money is' }).click()
      const dialog = page.getByRole('dialog', { name: 'Retry this intent' })
      const confirm = dialog.getByRole('button', { name: 'Retry intent' })
      await dialog.getByText('Too little money.').waitFor()
      expect(await confirm.isDisabled()).toBe(true)
      isRefused = false
      await dialog.getByRole('button', { name: 'Try again' }).click()
      await dialog.getByText('What would happen').waitFor()
      expect(await barriersInThemes(page)).toEqual([])
      expect(sent).toEqual(['?dryRun=true', '?dryRun=true'])
      await confirm.click()
      await page.waitForURL(`**/intents/${next}`)
      expect(sent).toEqual(['?dryRun=true', '?dryRun=true', ''])
      expect(faults.filter((fault) => !/400|503/.test(fault))).toEqual([])
    },
    TEST_MS,
  )

  test(
    'a new lend whose plan is refused cannot be sent',
    async () => {
      const person = await world().newPerson()
      const wallet = await makeWallet(world(), person, 'alice')
      const { page } = await world().open(person)
      let isRefused = true
      await page.route('**/intents?dryRun=true', (route: Route) =>
        isRefused
          ? route.fulfill({ status: 400, json: { error: 'X', message: 'Too little money.' } })
          : route.fulfill({ status: 200, json: dryRunAnswer }),
      )
      await page.goto(`${world().host}/dashboard/intents/new?walletId=${wallet.id}&amount=1`)
      await page.getByText('Too little money.').waitFor()
      const submit = page.getByRole('button', { name: /^Lend 1 USDC/ })
      expect(await submit.isDisabled()).toBe(true)
      isRefused = false
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByRole('heading', { name: 'What would happen' }).waitFor()
      expect(await submit.isEnabled()).toBe(true)
    },
    TEST_MS,
  )

  test(
    'a repeated lend has the same idempotency key, and a lend of another amount another key',
    async () => {
      const person = await world().newPerson()
      const wallet = await makeWallet(world(), person, 'alice')
      const { page } = await world().open(person)
      await page.route('**/intents?dryRun=true', (route: Route) =>
        route.fulfill({ status: 200, json: dryRunAnswer }),
      )
      await page.route('**/dashboard/api/intents', (route: Route) => route.abort())
      await page.goto(`${world().host}/dashboard/intents/new?walletId=${wallet.id}&amount=1`)
      const lend = async () => {
        const failed = page.waitForEvent('requestfailed')
        await page.getByRole('button', { name: /^Lend \d/ }).click()
        return (await failed).headers()['idempotency-key']
      }
      const first = await lend()
      expect(first).toMatch(/^[\da-f-]{36}$/)
      expect(await lend()).toBe(first)
      await page.getByLabel('Amount of USDC').fill('2')
      const second = await lend()
      expect(second).toMatch(/^[\da-f-]{36}$/)
      expect(second).not.toBe(first)
    },
    TEST_MS,
  )
}
