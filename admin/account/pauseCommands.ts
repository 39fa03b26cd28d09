import { userInfo } from 'node:os'
import { chainFacts, chainNames, findCanonicalName } from '../../evm/registry.js'
import { attribute, readAuditEvents, type Order } from '../../db/auditEvents.js'
import {
  readOpenPauses,
  resumeWork,
  pauseWork,
  type PauseScope,
  type PauseTarget,
} from '../../db/pauses.js'
import { readUnderWay, type UnderWay } from '../../db/underWay.js'
import { time, type CommandOutput } from './accountAnswers.js'
import { line, misuse, type Command, type Values } from './command.js'
import { toTable } from './table.js'
import type { Db } from '../../db/client/connect.js'

/** Number of audit log entries that `events` shows. */
const SHOWN_EVENTS = 100

type Act = (db: Db, target: PauseTarget, order: Order) => Promise<CommandOutput>

/** A command that pauses or resumes a scope. It requires a reason. */
function commandOf(scope: PauseScope, args: string[], act: Act): Command {
  return {
    args,
    options: ['why', 'by'],
    prepare(values, subject = '') {
      const target = scope === 'chain' ? chainTarget(subject) : { scope, subject }
      const order = orderOf(values)
      return (db) => act(db, target, order)
    },
  }
}

/** The pause is in effect before anything is counted, so a failed count is reported and no failure of the command. */
async function pause(db: Db, target: PauseTarget, order: Order): Promise<CommandOutput> {
  await pauseWork(db, target, order)
  const underWay = await readUnderWay(db, target).catch(() => undefined)
  const { text, json } = await describePauses(db)
  return { text: `${describeUnderWay(underWay)}\n\n${text}`, json: { ...json, underWay } }
}

async function resume(db: Db, target: PauseTarget, order: Order): Promise<CommandOutput> {
  await resumeWork(db, target, order)
  return describePauses(db)
}

function describeUnderWay(underWay: UnderWay | undefined): string {
  const inEffect = 'In effect. Nothing more is signed or sent.'
  if (!underWay) return `${inEffect} What is under way was not counted.`
  const { signing, unsent, sent } = underWay
  return `${inEffect} Under way at this moment:
  operations being signed      ${signing}  stored at most, not sent
  transactions stored, unsent  ${unsent}  not sent
  transactions sent, unmined   ${sent}  may still be mined`
}

/** Pauses and freezes. The audit log records each with its reason. */
export const pauseCommands: Record<string, Command> = {
  freeze: commandOf('account', ['ACCOUNT'], pause),
  unfreeze: commandOf('account', ['ACCOUNT'], resume),
  'wallet freeze': commandOf('wallet', ['WALLET'], pause),
  'wallet unfreeze': commandOf('wallet', ['WALLET'], resume),
  'chain pause': commandOf('chain', ['CHAIN'], pause),
  'chain resume': commandOf('chain', ['CHAIN'], resume),
  'deployment pause': commandOf('deployment', [], pause),
  'deployment resume': commandOf('deployment', [], resume),
  pauses: { args: [], options: [], prepare: () => describePauses },
  events: { args: [], options: [], prepare: () => describeEvents },
}

/** The operator and their reason. The name defaults to the user of this machine. */
export const orderOf = ({ why, by }: Values): Order => ({
  why: line('--why', why),
  by: line('--by', by ?? userInfo().username),
})

/** A command whose changes the database records in the audit log. Its reason is optional. */
export const recorded = ({ args, options, prepare }: Command): Command => ({
  args,
  options: [...options, 'why', 'by'],
  prepare({ why, by, ...values }, ...given) {
    const reason = why === undefined ? {} : { why: line('--why', why) }
    const order = { ...reason, by: line('--by', by ?? userInfo().username) }
    const work = prepare(values, ...given)
    return (db) =>
      db.transaction(async (trx) => {
        await attribute(trx, order)
        return work(trx)
      })
  },
})

function chainTarget(text: string): PauseTarget {
  const name = findCanonicalName(text)
  if (name) return { scope: 'chain', subject: String(chainFacts[name].chainId), name }
  throw misuse(`CHAIN must be one of ${chainNames.join(', ')}.`)
}

/** The name of a chain; the id of any other subject. */
const nameOf = ({ scope, subject }: PauseTarget) =>
  (scope === 'chain' && findChainName(subject)) || subject || 'all'

const findChainName = (id: string) =>
  chainNames.find((name) => String(chainFacts[name].chainId) === id)

async function describePauses(db: Db): Promise<CommandOutput> {
  const pauses = await readOpenPauses(db)
  const rows = pauses.map((pause) => {
    return [pause.scope, nameOf(pause), time(pause.since), pause.by, pause.why]
  })
  const names = ['SCOPE', 'SUBJECT', 'SINCE', 'BY', 'REASON']
  const json = {
    pauses: pauses.map((pause) => ({
      ...{ scope: pause.scope, subject: nameOf(pause) },
      ...{ since: pause.since, by: pause.by, why: pause.why },
    })),
  }
  return { text: toTable('Nothing is frozen or paused.', names, rows), json }
}

async function describeEvents(db: Db): Promise<CommandOutput> {
  const stored = await readAuditEvents(db, SHOWN_EVENTS)
  const events = stored.map(({ subject, ...event }) => {
    const name = event.action.startsWith('chain ') ? findChainName(subject) : undefined
    return { ...event, subject: name ?? subject }
  })
  const rows = events.map(({ at, actor, action, subject, detail, why }) => {
    return [time(at), actor, action, subject || '-', why, detail ?? '-']
  })
  const names = ['TIME', 'OPERATOR', 'ACTION', 'SUBJECT', 'REASON', 'DETAIL']
  return { text: toTable('The audit log is empty.', names, rows), json: { events } }
}
