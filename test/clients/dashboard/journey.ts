import { joinWorld } from '../../e2e/world.js'
import { openBrowser } from './browser.js'
import { createPeople, type Newcomer } from './people.js'
import { newId } from '../../../db/client/ids.js'

export type Journey = Awaited<ReturnType<typeof openJourney>>

/** The stack of the run with browser users of one account. */
export async function openJourney() {
  const world = await joinWorld()
  const host = world.stack.facts.hostUrl
  const { id } = await world.createWallet({})
  const wallet = await world.db('wallet').where({ id }).first<{ account_id: string }>('account_id')
  const accountId = wallet.account_id
  const browser = await openBrowser()
  const people = createPeople(browser, { host, db: world.db })
  /** An e-mail address is unique in a deployment. */
  const newcomer = (options: Omit<Newcomer, 'email' | 'accountId'>) => ({
    ...{ ...options, accountId, email: `${newId('p')}@example.com` },
  })
  return {
    ...{ ...world, host, browser },
    people: {
      join: (options: Omit<Newcomer, 'email' | 'accountId'>) => people.join(newcomer(options)),
      invite: (options: Omit<Newcomer, 'email' | 'accountId'>) => people.invite(newcomer(options)),
    },
    async stop() {
      await browser.close()
      await world.stop()
    },
  }
}
