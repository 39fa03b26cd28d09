import { expect, test } from 'vitest'
import { createAccount } from '../../../../db/accounts/accounts.js'
import { inviteMember } from '../../../../db/accounts/invitations.js'
import { PASSWORD } from '../../../api/dashboard/people.js'
import { barriersInThemes } from '../axe.js'
import { makeWallet, ownFaults, type PageWorld } from '../pageWorld.js'

const TEST_MS = 60_000

export function testMembership(world: () => PageWorld): void {
  test(
    'a member of two accounts switches between them and sees only the data of the current one',
    async () => {
      const person = await world().newPerson()
      const wallet = await makeWallet(world(), person, 'alice')
      const { id } = await createAccount(world().db, { name: 'Beta Bank', plan: 'pro' })
      const invitation = { accountId: id, email: person.email, role: 'viewer' as const }
      const { token } = await inviteMember(world().db, invitation)
      const body = { password: PASSWORD }
      await world().pages('POST', `/invitations/${token}/accept`, { body })
      const { page, faults } = await world().open(person)
      await page.goto(`${world().host}/dashboard/wallets/${wallet.id}`)
      await page.getByRole('heading', { name: 'Wallet of alice' }).waitFor()
      await page.getByRole('button', { name: 'test', exact: true }).click()
      const own = page.getByRole('menuitemradio', { name: 'test, owner' })
      expect(await own.getAttribute('aria-checked')).toBe('true')
      await page.getByRole('menuitemradio', { name: 'Beta Bank, viewer' }).click()
      await page.getByRole('button', { name: 'Beta Bank' }).waitFor()
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      expect(ownFaults(faults)).toEqual([])
      await page.goto(`${world().host}/dashboard/wallets/${wallet.id}`)
      await page.getByRole('alert').filter({ hasText: 'There is no' }).first().waitFor()
      await page.goto(`${world().host}/dashboard/wallets`)
      await page.getByText('No wallets yet').waitFor()
      expect(await page.getByRole('button', { name: 'New wallet' }).count()).toBe(0)
    },
    TEST_MS,
  )

  test(
    'an owner sees pending invitations with role, inviter and expiry, and withdraws one',
    async () => {
      const owner = await world().newPerson()
      const { page, faults } = await world().open(owner)
      await page.goto(`${world().host}/dashboard/settings`)
      await page.getByRole('table', { name: 'Members' }).waitFor()
      const pending = page.getByRole('table', { name: 'Pending invitations' })
      expect(await pending.count()).toBe(0)
      await page.getByRole('button', { name: 'Invite' }).click()
      await page.getByLabel('E-mail').fill('carol@example.com')
      await page.getByLabel('Role', { exact: true }).selectOption('viewer')
      await page.getByRole('button', { name: 'Create link' }).click()
      const link = (await page.getByRole('dialog').locator('pre').innerText()).trim()
      await page.getByRole('button', { name: 'Done' }).click()
      const row = pending.getByRole('row').filter({ hasText: 'carol@example.com' })
      await row.getByRole('cell', { name: 'viewer' }).waitFor()
      await row.getByRole('cell', { name: owner.email }).waitFor()
      await row.getByRole('cell', { name: 'in 7 d' }).waitFor()
      expect(await barriersInThemes(page)).toEqual([])
      await row.getByRole('button', { name: /^Actions for the invitation/ }).click()
      await page.getByRole('menuitem', { name: 'Withdraw' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click()
      await pending.waitFor({ state: 'detached' })
      const auditLog = page.getByRole('table', { name: 'Audit log' })
      await auditLog.getByText('Withdrew the invitation of carol@example.com').waitFor()
      expect(ownFaults(faults)).toEqual([])
      await page.goto(link)
      await page.getByText('withdrawn').waitFor()
    },
    TEST_MS,
  )

  test(
    'an owner resets the password of a member, and is offered no reset for an operator',
    async () => {
      const owner = await world().newPerson()
      const { accountId } = owner
      const member = await world().newPerson({ accountId, role: 'viewer' })
      const operator = await world().newPerson({ accountId, role: 'viewer', isOperator: true })
      const { page, faults } = await world().open(owner)
      await page.goto(`${world().host}/dashboard/settings`)
      const openMenu = ({ email }: typeof owner) =>
        page
          .getByRole('row')
          .filter({ hasText: email })
          .getByRole('button', { name: /^Actions for member/ })
          .click()
      await openMenu(operator)
      expect(await page.getByRole('menuitem').allInnerTexts()).toEqual([
        ...['Change role …', 'Remove …'],
      ])
      await page.keyboard.press('Escape')
      await openMenu(member)
      await page.getByRole('menuitem', { name: 'Reset password' }).click()
      await page.getByRole('button', { name: 'Create link' }).click()
      const link = page.getByRole('dialog', { name: 'New password' }).locator('pre')
      expect(await link.innerText()).toContain('/dashboard/password-resets/')
      expect(ownFaults(faults)).toEqual([])
    },
    TEST_MS,
  )

  test(
    'an owner changes the role of a member, removes the member and reads the audit log',
    async () => {
      const owner = await world().newPerson()
      const { accountId } = owner
      const member = await world().newPerson({ accountId, role: 'viewer' })
      const { page, faults } = await world().open(owner)
      await page.goto(`${world().host}/dashboard/settings`)
      const row = page.getByRole('row').filter({ hasText: member.email })
      await row.getByRole('button', { name: /^Actions for member/ }).click()
      await page.getByRole('menuitem', { name: 'Change role' }).click()
      await page.getByLabel('Role', { exact: true }).selectOption('developer')
      await page.getByRole('button', { name: 'Change role' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await page
        .getByRole('table', { name: 'Members' })
        .getByRole('cell', { name: 'developer', exact: true })
        .waitFor()
      const key = { account_id: accountId, user_id: member.userId }
      expect(await world().db('membership').where(key).pluck('role')).toEqual(['developer'])
      const auditLog = page.getByRole('table', { name: 'Audit log' })
      await auditLog.getByText('Changed a role to developer').waitFor()
      await row.getByRole('button', { name: /^Actions for member/ }).click()
      await page.getByRole('menuitem', { name: 'Remove' }).click()
      await page.getByRole('button', { name: /^Remove Person/ }).click()
      await auditLog.getByText('Removed a member').waitFor()
      expect(await world().db('membership').where(key).pluck('role')).toEqual([])
      expect(ownFaults(faults)).toEqual([])
      // A viewer sees neither the audit log nor the actions.
      const viewer = await world().newPerson({ accountId, role: 'viewer' })
      const seen = await world().open(viewer)
      await seen.page.goto(`${world().host}/dashboard/settings`)
      await seen.page.getByRole('table', { name: 'Members' }).waitFor()
      expect(await seen.page.getByText('Audit log').count()).toBe(0)
      expect(await seen.page.getByRole('button', { name: /^Actions for/ }).count()).toBe(0)
      expect(ownFaults(seen.faults)).toEqual([])
    },
    TEST_MS,
  )
}
