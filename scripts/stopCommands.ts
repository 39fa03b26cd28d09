import { userInfo } from 'node:os'
import { chainFacts, chainNames } from '../chains/registry.js'
import { readAuditEvents, type Order } from '../db/auditEvents.js'
import {
  readStops,
  resumeWork,
  stopWork,
  type StopScope,
  type StopTarget,
} from '../db/lanes/stops.js'
import { time, type CommandOutput } from './accountAnswers.js'
import { line, misuse, type Command, type Values } from './command.js'
import { toTable } from './table.js'
import type { Db } from '../db/connection/connect.js'

/** Number of audit log entries that `events` shows. */
const SHOWN_EVENTS = 100

type Act = (db: Db, target: StopTarget, order: Order) => Promise<void>

/** A command that pauses or resumes a scope. It requires a reason. */
function commandOf(scope: StopScope, args: string[], act: Act): Command {
  return {
    args,
    options: ['why', 'by'],
    prepare(values, name = '') {
      const target = { scope, subject: scope === 'chain' ? chainId(name) : name }
      const order = orderOf(values)
      return async (db) => {
        await act(db, target, order)
        return describeStops(db)
      }
    },
  }
}

/** Pauses and freezes. The audit log records each with its reason. */
export const stopCommands: Record<string, Command> = {
  freeze: commandOf('account', ['ACCOUNT'], stopWork),
  unfreeze: commandOf('account', ['ACCOUNT'], resumeWork),
  'wallet freeze': commandOf('wallet', ['WALLET'], stopWork),
  'wallet unfreeze': commandOf('wallet', ['WALLET'], resumeWork),
  'chain pause': commandOf('chain', ['CHAIN'], stopWork),
  'chain resume': commandOf('chain', ['CHAIN'], resumeWork),
  'deployment pause': commandOf('deployment', [], stopWork),
  'deployment resume': commandOf('deployment', [], resumeWork),
  stops: { args: [], options: [], prepare: () => describeStops },
  events: { args: [], options: [], prepare: () => describeEvents },
}

/** The operator and their reason. The name defaults to the user of this machine. */
export const orderOf = ({ why, by }: Values): Order => ({
  why: line('--why', why),
  by: line('--by', by ?? userInfo().username),
})

function chainId(text: string): string {
  const name = chainNames.find((one) => one === text || chainFacts[one].alias === text)
  if (name) return String(chainFacts[name].chainId)
  throw misuse(`CHAIN must be one of ${chainNames.join(', ')}.`)
}

/** The name of a chain; the id of any other subject. */
const nameOf = ({ scope, subject }: StopTarget) =>
  chainNames.find((one) => scope === 'chain' && String(chainFacts[one].chainId) === subject) ??
  (subject || 'all')

async function describeStops(db: Db): Promise<CommandOutput> {
  const stops = await readStops(db)
  const rows = stops.map((stop) => {
    return [stop.scope, nameOf(stop), time(stop.since), stop.by, stop.why]
  })
  const names = ['SCOPE', 'SUBJECT', 'SINCE', 'BY', 'REASON']
  const json = {
    stops: stops.map((stop) => ({
      ...{ scope: stop.scope, subject: nameOf(stop) },
      ...{ since: stop.since, by: stop.by, why: stop.why },
    })),
  }
  return { text: toTable('Nothing is frozen or paused.', names, rows), json }
}

async function describeEvents(db: Db): Promise<CommandOutput> {
  const events = await readAuditEvents(db, SHOWN_EVENTS)
  const rows = events.map(({ at, actor, action, subject, why }) => {
    return [time(at), actor, action, subject || '-', why]
  })
  const names = ['TIME', 'OPERATOR', 'ACTION', 'SUBJECT', 'REASON']
  return { text: toTable('The audit log is empty.', names, rows), json: { events } }
}
