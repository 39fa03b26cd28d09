import {
  DefaultLogger,
  makeTelemetryFilterString,
  type LogMetadata,
  type Logger,
} from '@temporalio/worker'
import type { Log } from '../runtime/log.js'

/** Fields of the SDK's records that the log keeps. Failure messages stay in Temporal. */
const allowed = [
  'workflowId',
  'workflowType',
  'activityType',
  'attempt',
  'taskQueue',
  'sdkComponent',
]

/**
 * Forwards logs of the SDK's native core to its logger. Retries of polls are excluded, because each of many polls would
 * log them throughout an outage of Temporal.
 */
export const telemetryOptions = {
  logging: {
    forward: {},
    filter: `${makeTelemetryFilterString({ core: 'WARN' })},temporalio_client::retry=off`,
  },
}

/** Forwards warnings and errors of the Temporal SDK to the log of the process. */
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
