import { expect, test } from 'vitest'
import { createApiKey } from '../../../../db/accounts/accounts.js'
import { barriersInThemes } from '../axe.js'
import { ownFaults, type PageWorld } from '../pageWorld.js'

const TEST_MS = 60_000

export function testRequests(world: () => PageWorld): void {
  test(
    'a refused call shows its message, fields, key and Idempotency-Key',
    async () => {
      const person = await world().newPerson({ role: 'developer' })
      const key = await createApiKey(world().db, person.accountId, { name: 'backend' })
      const { api } = world().world
      const body = { walletId: 'svc_wallet_1', action: 'lend', amount: true, note: 'hunter2' }
      const headers = { 'idempotency-key': 'order-7' }
      const refused = await api.call('POST', '/v1/intents', { key, body, headers })
      const requestId = refused.headers.get('x-request-id')
      const { page, faults } = await world().open(person)
      await page.goto(`${world().host}/dashboard/requests`)
      await page.getByRole('link', { name: /^POST .*\/intents$/ }).click()
      const facts = page.getByRole('dialog', { name: 'Request' })
      const why = facts.getByRole('region', { name: 'Why it was refused' })
      const text = await why.innerText()
      expect(text).toContain(String(refused.body.message))
      expect(text).toContain('note is not a field of this request.')
      expect(text).toContain('amount was true')
      expect(text).not.toContain('hunter2')
      await facts.getByText('order-7').waitFor()
      await facts
        .getByRole('link', { name: `backend ${key.slice(0, 11)}…${key.slice(-4)}` })
        .waitFor()
      expect(new URL(page.url()).searchParams.get('open')).toBe(requestId)
      expect(await barriersInThemes(page)).toEqual([])
      expect(ownFaults(faults)).toEqual([])
    },
    TEST_MS,
  )
}
