import { connect } from '../../../db/connection/connect.js'
import { closedUrl, silentChains } from '../../planning/chains.js'
import { standInTemporal, startApi, type Answer } from '../api.js'
import type { Db } from '../../../db/connection/connect.js'

/** What `GET /v1/wallets/:userId` of an existing user answers when the service itself fails inside: 500. */
export async function answerOfFailure(db: Db, key: string, userId: string): Promise<Answer> {
  const { registry, ...others } = silentChains()
  const broken = {
    ...registry,
    get chains(): never {
      throw new Error('broken')
    },
  }
  return readWallet({ db, ...others, registry: broken }, key, userId)
}

/** What it answers when the database is away: 503. */
export async function answerOfOutage(key: string): Promise<Answer> {
  const db = connect(closedUrl.replace('http', 'postgres'), 1)
  try {
    return await readWallet({ db, ...silentChains() }, key, 'anyone')
  } finally {
    await db.destroy()
  }
}

type Parts = Omit<Parameters<typeof startApi>[0], 'temporal'>

async function readWallet(parts: Parts, key: string, userId: string): Promise<Answer> {
  const api = await startApi({ ...parts, temporal: standInTemporal().client })
  try {
    return await api.call('GET', `/v1/wallets/${userId}`, { key })
  } finally {
    await api.stop()
  }
}
