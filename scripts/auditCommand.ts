import { parseArgs } from 'node:util'
import { audit, reconcile } from '../audit/audit.js'
import { readFigures, type Figure } from '../audit/purses.js'
import { ServiceError } from '../domain/errors.js'
import { connectTemporal, pingTemporal } from '../temporal/connect.js'
import { findRunning, listRunning } from '../temporal/running.js'
import { useDeployment } from './deployment.js'
import { useOwnerDatabase } from './ownerDatabase.js'
import { toTable } from './table.js'
import type { Difference } from '../audit/difference.js'
import type { AuditTools, Workflows } from '../audit/tools.js'

export const USAGE = `Usage: npm run audit [-- --reconcile] [--older-than 1h] [--json] [--without-temporal]

  Compares the rows of the database with the chains and with Temporal, and names every difference: what it is
  about, what the row says, what the chain says, and what would mend it. Writes nothing. Below it stands what has
  left lanes and treasury by transactions and fundings that rows know, beside what they have: two figures that need
  not meet, for anybody may pay in.

  --reconcile         mends what is certain, each in a transaction, told line by line; what is left is named
  --older-than 1h     names what is open for longer than that (m, h or d): operations that are signed and not mined,
                      intents that are not over, transfers of the treasury, money that is held by intents that are
                      over. Else the first and the third after an hour, the others after a day
  --without-temporal  looks at no workflows

After a backup was restored: run it with --reconcile before the signer is started again. It needs no keys. The
settings are those of the service (NETWORK, RPC_URL_…, DEVNET_FILE, TEMPORAL_ADDRESS) with the DATABASE_URL of
the database's owner, else those of a running npm start. Exit code: 0 without a difference, 1 with some, 2 when it
could not look.`

const options = {
  reconcile: { type: 'boolean' },
  json: { type: 'boolean' },
  'older-than': { type: 'string' },
  'without-temporal': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Processes that run write within this time what they were about to. */
const AGAIN_MS = 3_000

export type AuditReport = { text: string; exitCode: 0 | 1 }

/**
 * Audits the deployment that the settings describe.
 *
 * @param say - Hears how far it is, and of each mend.
 * @returns Undefined when only help is asked for.
 * @throws {ServiceError} INVALID_REQUEST for wrong arguments; MISCONFIGURED or RPC_ERROR, without a URL, when it
 *   cannot look.
 */
export async function runAudit(
  argv: string[],
  env: NodeJS.ProcessEnv,
  say: (line: string) => void = sayLine,
): Promise<AuditReport | undefined> {
  const asked = readOptions(argv)
  if (asked.help) return undefined
  const age = readAge(asked['older-than'])
  return useDeployment(env, async ({ registry, chains, databaseUrl, temporal }) => {
    const client = asked['without-temporal'] ? undefined : connectTemporal(...temporal)
    let report: AuditReport | undefined
    try {
      if (client) await assertThere(() => pingTemporal(client))
      const workflows: Workflows | undefined = client && {
        findRunning: (ids) => findRunning(client, ids),
        listRunning: () => listRunning(client),
      }
      await useOwnerDatabase({ DATABASE_URL: databaseUrl }, async (db) => {
        const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
        const base = { db, chains, registry, log, againMs: AGAIN_MS, progress: say }
        const tools: AuditTools = { ...base, ...age, ...(workflows && { workflows }) }
        report = await look(tools, asked, say)
      })
    } finally {
      await client?.connection.close()
    }
    return report
  })
}

const unitsMs = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `2h` in ms. */
function readAge(text: string | undefined): { olderThanMs?: number } {
  if (text === undefined) return {}
  const [, number, unit] = /^([1-9]\d{0,3})([mhd])$/.exec(text) ?? []
  if (number) return { olderThanMs: Number(number) * unitsMs[unit as keyof typeof unitsMs] }
  throw new ServiceError('INVALID_REQUEST', '--older-than must be like 30m, 12h or 7d.')
}

function readOptions(argv: string[]) {
  try {
    return parseArgs({ args: argv, options }).values
  } catch (error) {
    const [first = ''] = (error as Error).message.split(/(?<=\.)\s/)
    throw new ServiceError('INVALID_REQUEST', `${first} Help: npm run audit -- --help`)
  }
}

async function assertThere(ping: () => Promise<void>): Promise<void> {
  await ping().catch((cause: unknown) => {
    const message = 'Temporal does not answer. Without it: --without-temporal'
    throw new ServiceError('MISCONFIGURED', message, {}, { cause })
  })
}

async function look(
  tools: AuditTools,
  { reconcile: isMending = false, json = false }: { reconcile?: boolean; json?: boolean },
  say: (line: string) => void,
): Promise<AuditReport> {
  const mended: Difference[] = []
  const left: Difference[] = []
  if (isMending) {
    const rest = await reconcile(tools, (difference) => {
      mended.push(difference)
      say(`mended: ${difference.about}: ${difference.mend}`)
    })
    left.push(...rest)
  } else {
    for await (const difference of audit(tools)) left.push(difference)
  }
  const figures: Figure[] = []
  for (const client of tools.chains.list) figures.push(...(await readFigures(tools, client)))
  const told = { differences: left.map(toJson), mended: mended.map(toJson), figures }
  const text = json ? JSON.stringify(told, null, 2) : toText(left, mended, figures)
  return { text, exitCode: left.length > 0 ? 1 : 0 }
}

/** What would be written is told in words; it holds what only programs of this version can read. */
const toJson = ({ repair, ...difference }: Difference) => ({
  ...difference,
  mendable: repair !== undefined,
})

function toText(left: Difference[], mended: Difference[], figures: Figure[]): string {
  const names = ['CHECK', 'ABOUT', 'ROW', 'CHAIN', 'MEND']
  const rows = left.map(({ check, about, row, chain, mend, repair }) => [
    ...[check, about, row, chain],
    repair ? `${mend} (--reconcile)` : mend,
  ])
  const done = mended.length > 0 ? [`${mended.length} mended.`] : []
  const verdict = left.length > 0 ? `${left.length} differences.` : 'No difference.'
  const paid = figures.map(({ about, rows: left, chain }) => [about, left, chain])
  const heads = ['SENDER', 'HAS PAID, BY THE ROWS', 'HAS NOW']
  const below = paid.length > 0 ? ['', toTable('', heads, paid)] : []
  return [toTable('', names, rows), '', ...done, verdict, ...below].join('\n').trimStart()
}

/** On a terminal one line that changes; else nothing but what was mended. */
function sayLine(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${line}`)
  else if (line.startsWith('mended')) process.stderr.write(`${line}\n`)
}
