import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker'

// One per process. Many tests have failing activities, which the SDK logs as warnings.
Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR' }) } },
})
