import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker'

// One per process. Failing activities are part of many tests; the SDK reports each of them as a warning.
Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR' }) } },
})
