import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import pg from 'pg'
import { newId } from '../../db/client/ids.js'

/**
 * The baseline of `bench/api.ts` in its own process: Express and `pg` without authentication, rate limit, credits or
 * log. It reads a wallet with one query and creates one with one statement. It sends its port to its parent and exits
 * with it.
 */
const [url = ''] = process.argv.slice(2)
const POOL_SIZE = 20
const COLUMNS = `id, account_id as "accountId", user_id as "userId", address, metadata,
  created_at as "createdAt"`
const selectWallet = `select ${COLUMNS} from wallet where account_id = $1 and user_id = $2`
/** The rows that a new wallet stores: the wallet, its sealed key, the charge and the new balance of the account. */
const insertWallet = `with made as (
    insert into wallet (id, account_id, user_id, address, metadata)
    values ($1, $2, $3, '0x' || md5($1) || '00000000', '{}') returning *
  ), sealed as (
    insert into wallet_secret (wallet_id, kek_id, sealed)
    select made.id, kek.id, decode(repeat('00', 80), 'hex') from made, kek
  ), paid as (
    insert into ledger (account_id, request_id, reason, delta, from_granted, period)
    values ($2, $4, 'charge:POST /wallets', -1, 1, 202601)
  ), left_over as (
    update account set granted = granted - 1, total_used = total_used + 1 where id = $2
  )
  select ${COLUMNS} from made`

const pool = new pg.Pool({ connectionString: url, max: POOL_SIZE }).on('error', () => undefined)
const app = express()
app.get('/v1/wallets/:userId', async (request, response) => {
  const values = [request.get('x-account'), request.params.userId]
  const { rows } = await pool.query<object>(selectWallet, values)
  response.json(rows[0])
})
app.post('/v1/wallets', express.json(), async (request, response) => {
  const { userId } = request.body as { userId: string }
  const values = [newId('svc_wallet_'), request.get('x-account'), userId, newId('req_')]
  const { rows } = await pool.query<object>(insertWallet, values)
  response.status(201).json(rows[0])
})
const server = createServer(app).listen(0, '127.0.0.1')
await once(server, 'listening')
process.on('disconnect', () => process.exit())
process.send?.((server.address() as AddressInfo).port)
