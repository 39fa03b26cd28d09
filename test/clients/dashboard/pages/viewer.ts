import { expect, test } from 'vitest'
import { createApiKey } from '../../../../db/accounts/accounts.js'
import { newId } from '../../../../db/client/ids.js'
import { insertTestIntent } from '../../../db/rows.js'
import { makeWallet, ownFaults, type PageWorld } from '../pageWorld.js'
import { untilShown } from '../people.js'
import type { Page } from 'playwright-core'

const TEST_MS = 180_000

/** Controls that a viewer may use although they write: those of the own sessions and password. */
const own = /^(Sign out|Sign out everywhere|Change password)$/

/** The names of the enabled buttons of a part of the page. Buttons that copy write nothing. */
async function buttonsOf(page: Page, part: string): Promise<string[]> {
  const buttons = await page.locator(`${part} button:enabled`).all()
  const names = await Promise.all(
    buttons.map(async (button) => (await button.getAttribute('aria-label')) ?? button.innerText()),
  )
  return names.filter((name) => !own.test(name) && !/^Cop(y|ied)/.test(name))
}

export function testViewer(world: () => PageWorld): void {
  /** An account with a resource of each kind. */
  async function fillAccount() {
    const owner = await world().newPerson()
    const { cookie, accountId } = owner
    await createApiKey(world().db, accountId, { name: 'backend' })
    const wallet = await makeWallet(world(), owner, 'alice')
    const failed = await insertTestIntent(world().db, wallet, 'failed')
    const running = await insertTestIntent(world().db, wallet, 'executing')
    const webhookId = newId('wh_')
    const hook = { id: webhookId, account_id: accountId, url: 'https://x.example' }
    await world().db('webhook').insert(hook)
    await world().pages('POST', `/webhooks/${webhookId}/test`, { cookie })
    const invitation = { email: 'carol@example.com', role: 'viewer' }
    await world().pages('POST', '/members/invite', { cookie, body: invitation })
    const paths = [
      ...['', '/intents', `/intents/${failed}`, `/intents/${running}`],
      ...[`/intents/new?walletId=${wallet.id}&amount=1`, '/wallets', `/wallets/${wallet.id}`],
      ...['/yields', '/keys', '/webhooks', `/webhooks/${webhookId}`, '/credits'],
      ...['/requests', '/settings', '/nonsense'],
    ]
    return { accountId, paths }
  }

  /** Presses each button of a part of the page, and those of the dialog that it opens. */
  async function pressAll(page: Page, part: string): Promise<string[]> {
    const pressed: string[] = []
    for (const [at, name] of (await buttonsOf(page, part)).entries()) {
      const button = page.locator(part).getByRole('button', { name, exact: true, disabled: false })
      const same = (await buttonsOf(page, part)).slice(0, at).filter((one) => one === name).length
      const target = button.nth(same)
      if ((await target.count()) === 0) continue
      await target.click()
      pressed.push(name)
      if (part === 'main' && (await page.locator('dialog[open]').count()) > 0) {
        pressed.push(...(await pressAll(page, 'dialog[open]')))
        expect(await page.locator('dialog[open] form').count(), `form after ${name}`).toBe(0)
        await page.keyboard.press('Escape')
      }
    }
    return pressed
  }

  test(
    'no page offers a viewer an act that the API refuses',
    async () => {
      const { accountId, paths } = await fillAccount()
      const viewer = await world().newPerson({ accountId, role: 'viewer' })
      const { page, faults } = await world().open(viewer)
      const refused: string[] = []
      page.on('response', (response) => {
        if (response.status() === 403) refused.push(`${page.url()}: ${response.url()}`)
      })
      const seen = new Map<string, string[]>()
      for (const path of paths) {
        await page.goto(`${world().host}/dashboard${path}`)
        await untilShown(page)
        expect(await page.locator('main a[href*="/intents/new"]').count()).toBe(0)
        seen.set(path, await pressAll(page, 'main'))
      }
      expect(refused).toEqual([])
      const names = [...seen.values()].flat()
      expect(names.length).toBeGreaterThan(10)
      const acts =
        /^(New|Create|Invite|Withdraw the|Cancel|Retry|Roll|Revoke|Send|Enable|Disable|Delete|Actions)\b/
      expect(names.filter((name) => acts.test(name))).toEqual([])
      expect(ownFaults(faults)).toEqual([])
    },
    TEST_MS,
  )

  test(
    'the pages of an empty account show calls and advice to writers, and none to viewers',
    async () => {
      const owner = await world().newPerson()
      const { accountId } = owner
      const hook = { id: newId('wh_'), account_id: accountId, url: 'https://x.example' }
      await world().db('webhook').insert(hook)
      const viewer = await world().newPerson({ accountId, role: 'viewer' })
      const paths = ['/', '/intents', '/wallets', '/requests', '/keys', `/webhooks/${hook.id}`]
      const adviceTo = async (person: typeof owner) => {
        const { page, faults, context } = await world().open(person)
        const advised: string[] = []
        for (const path of paths) {
          await page.goto(`${world().host}/dashboard${path}`)
          await untilShown(page)
          await page.waitForFunction(`!document.querySelector('[aria-label=Loading]')`)
          const text = await page.locator('main').innerText()
          if (/curl|Create (an|one)|Send a test event\./.test(text)) advised.push(path)
        }
        expect(ownFaults(faults)).toEqual([])
        await context.close()
        return advised
      }
      expect(await adviceTo(owner)).toEqual(paths)
      expect(await adviceTo(viewer)).toEqual([])
    },
    TEST_MS,
  )
}
