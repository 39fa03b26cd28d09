import { parseArgs } from 'node:util'
import { audit, reconcile } from './audit.js'
import { readTotals, type SenderTotals } from './totals.js'
import { ServiceError } from '../../domain/errors.js'
import { connectTemporal, pingTemporal } from '../../workflows/client/connect.js'
import { findRunning, listRunning } from '../../workflows/client/running.js'
import { useDeployment } from '../deployment.js'
import { useOwnerDatabase } from '../ownerDatabase.js'
import { toTable } from '../account/table.js'
import type { Difference } from './difference.js'
import type { AuditTools, Workflows } from './tools.js'

export const USAGE = `Usage: npm run audit [-- --reconcile] [--older-than 1h] [--json] [--without-temporal]

  Compares the rows of the database with the chains and with Temporal, and reports every difference: its subject, the
  row, the chain and the fix. Writes nothing. Below the differences it shows the recorded expenses of senders and
  treasury next to their balances. These need not match, because anyone can pay in.

  --reconcile         applies all certain fixes, each in one transaction, and reports the remaining differences
  --older-than 1h     reports rows that are open for longer (m, h or d). Without it: signed operations and refills
                      after an hour, open intents and reservations of finished intents after a day
  --without-temporal  skips the workflows

After the restore of a backup, run it with --reconcile before you start the signer. It needs no keys. It uses the
settings of the service (NETWORK, RPC_URL_…, DEVNET_FILE, TEMPORAL_ADDRESS) with the DATABASE_URL of the database
owner, otherwise those of a running npm start. Exit code: 0 without differences, 1 with differences, 2 when the audit
could not run.`

const options = {
  reconcile: { type: 'boolean' },
  json: { type: 'boolean' },
  'older-than': { type: 'string' },
  'without-temporal': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Running processes finish their current writes within this time. */
const AGAIN_MS = 3_000

export type AuditReport = { text: string; exitCode: 0 | 1 }

/**
 * Audits the deployment of the given settings.
 *
 * @param report - Receives progress, and a line for each repair.
 * @returns Undefined for `--help`.
 * @throws {ServiceError} INVALID_REQUEST for wrong arguments; MISCONFIGURED or RPC_ERROR, without a URL, when the audit
 *   cannot run.
 */
export async function runAudit(
  argv: string[],
  env: NodeJS.ProcessEnv,
  report: (line: string) => void = printLine,
): Promise<AuditReport | undefined> {
  const chosen = readOptions(argv)
  if (chosen.help) return undefined
  const age = readAge(chosen['older-than'])
  return useDeployment(env, async ({ registry, chains, databaseUrl, temporal }) => {
    const client = chosen['without-temporal'] ? undefined : connectTemporal(...temporal)
    let result: AuditReport | undefined
    try {
      if (client) await assertAvailable(() => pingTemporal(client))
      const workflows: Workflows | undefined = client && {
        findRunning: (ids) => findRunning(client, ids),
        listRunning: () => listRunning(client),
      }
      await useOwnerDatabase({ DATABASE_URL: databaseUrl }, async (db) => {
        const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
        const base = { db, chains, registry, log, againMs: AGAIN_MS, progress: report }
        const tools: AuditTools = { ...base, ...age, ...(workflows && { workflows }) }
        result = await compare(tools, chosen, report)
      })
    } finally {
      await client?.connection.close()
    }
    return result
  })
}

const unitsMs = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `2h` in ms. */
function readAge(text: string | undefined): { olderThanMs?: number } {
  if (text === undefined) return {}
  const [, number, unit] = /^([1-9]\d{0,3})([mhd])$/.exec(text) ?? []
  if (number) return { olderThanMs: Number(number) * unitsMs[unit as keyof typeof unitsMs] }
  throw new ServiceError(
    'INVALID_REQUEST',
    '--older-than must be a duration such as 30m, 12h or 7d.',
  )
}

function readOptions(argv: string[]) {
  try {
    return parseArgs({ args: argv, options }).values
  } catch (error) {
    const [first = ''] = (error as Error).message.split(/(?<=\.)\s/)
    throw new ServiceError('INVALID_REQUEST', `${first} Help: npm run audit -- --help`)
  }
}

async function assertAvailable(ping: () => Promise<void>): Promise<void> {
  await ping().catch((cause: unknown) => {
    const message = 'Temporal does not answer. Use --without-temporal to skip the workflows.'
    throw new ServiceError('MISCONFIGURED', message, {}, { cause })
  })
}

async function compare(
  tools: AuditTools,
  { reconcile: isRepairing = false, json = false }: { reconcile?: boolean; json?: boolean },
  report: (line: string) => void,
): Promise<AuditReport> {
  const repaired: Difference[] = []
  const left: Difference[] = []
  if (isRepairing) {
    const rest = await reconcile(tools, (difference) => {
      repaired.push(difference)
      report(`fixed: ${difference.about}: ${difference.remedy}`)
    })
    left.push(...rest)
  } else {
    for await (const difference of audit(tools)) left.push(difference)
  }
  const totals: SenderTotals[] = []
  for (const client of tools.chains.list) totals.push(...(await readTotals(tools, client)))
  const all = { differences: left.map(toJson), fixed: repaired.map(toJson), totals }
  const text = json ? JSON.stringify(all, null, 2) : toText(left, repaired, totals)
  return { text, exitCode: left.length > 0 ? 1 : 0 }
}

/** Omits the repair itself, which has an internal format. */
const toJson = ({ repair, remedy, ...difference }: Difference) => ({
  ...difference,
  fix: remedy,
  isFixable: repair !== undefined,
})

function toText(left: Difference[], repaired: Difference[], totals: SenderTotals[]): string {
  const names = ['CHECK', 'ABOUT', 'ROW', 'CHAIN', 'FIX']
  const rows = left.map(({ check, about, row, chain, remedy, repair }) => [
    ...[check, about, row, chain],
    repair ? `${remedy} (--reconcile)` : remedy,
  ])
  const done = repaired.length > 0 ? [`${repaired.length} fixed.`] : []
  const verdict = left.length > 0 ? `${left.length} differences.` : 'No differences.'
  const paid = totals.map(({ about, rows: left, chain }) => [about, left, chain])
  const heads = ['SENDER', 'RECORDED EXPENSES', 'BALANCE']
  const below = paid.length > 0 ? ['', toTable('', heads, paid)] : []
  return [toTable('', names, rows), '', ...done, verdict, ...below].join('\n').trimStart()
}

/** Rewrites one line on a terminal. Without a terminal prints only the repairs. */
function printLine(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${line}`)
  else if (line.startsWith('fixed')) process.stderr.write(`${line}\n`)
}
