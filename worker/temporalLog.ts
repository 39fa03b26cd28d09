import {
  DefaultLogger,
  makeTelemetryFilterString,
  type LogMetadata,
  type Logger,
} from '@temporalio/worker'
import type { Log } from '../log.js'

/** Facts that the SDK's records may carry into our log. Failures are named, their texts stay in Temporal. */
const allowed = [
  'workflowId',
  'workflowType',
  'activityType',
  'attempt',
  'taskQueue',
  'sdkComponent',
]

/**
 * Lets the SDK's native part write through its logger, not past it. That a poll failed and is tried again stays
 * unsaid: each of many would tell it for as long as Temporal is away.
 */
export const telemetryOptions = {
  logging: {
    forward: {},
    filter: `${makeTelemetryFilterString({ core: 'WARN' })},temporalio_client::retry=off`,
  },
}

/** Lets the Temporal SDK write into our log, from warnings upwards. */
export function createTemporalLog(log: Log): Logger {
  return new DefaultLogger('WARN', ({ level, message, meta }) => {
    const facts = { ...pick(meta ?? {}), err: meta?.error as unknown }
    if (level === 'ERROR') log.error(facts, message)
    else log.warn(facts, message)
  })
}

function pick(meta: LogMetadata): Record<string, unknown> {
  return Object.fromEntries(Object.entries(meta).filter(([name]) => allowed.includes(name)))
}
