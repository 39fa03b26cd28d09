import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../db/client/connect.js'
import { newId } from '../../db/client/ids.js'
import { admit } from '../../db/usage/metering.js'

/** One of several processes that send calls for one account at the same moment. Reports the responses. */
const [url = '', key = '', calls = '0', startAt = '0'] = process.argv.slice(2)
/** Connections of this process, and concurrent calls. */
const SENDERS = 4

const db = connect(url, SENDERS)
const request = { key, cost: 0, route: 'GET /test', scope: 'read' as const }
await db.raw('select 1')
await sleep(Number(startAt) - Date.now())

let left = Number(calls)
const answers: { resetAt: number; verdict: string }[] = []
const sender = async () => {
  while ((left -= 1) >= 0) {
    const admission = await admit(db, { ...request, requestId: newId('req_') })
    if (!admission) throw new Error('The key is not known.')
    answers.push({ resetAt: admission.resetAt, verdict: admission.verdict })
  }
}
await Promise.all(Array.from({ length: SENDERS }, sender))
await db.destroy()
process.stdout.write(JSON.stringify(answers))
