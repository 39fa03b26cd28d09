import { report, type Context, type Facts } from './context.js'
import { findTemporalCli } from './stack/temporalCli.js'
import { createTemporalCluster } from './stack/temporalCluster.js'
import { findTemporalPrograms } from './stack/temporalPrograms.js'
import { createTemporalPart } from './stack/temporalServer.js'
import { assertListening } from './ports.js'
import { TEMPORAL_ON_POSTGRES } from './state/state.js'

const TEMPORAL_PORT = 7233

type TemporalFacts = Pick<
  Facts,
  'temporalAddress' | 'temporalNamespace' | 'temporalCluster' | 'temporalUiUrl'
>

/** Starts the configured Temporal server, unless the settings name a running one. */
export async function bringUpTemporal(context: Context): Promise<TemporalFacts> {
  const { env, home, set, ports, supervisor, signal } = context
  const begun = Date.now()
  const temporalNamespace = env.TEMPORAL_NAMESPACE ?? 'default'
  const outside = { temporalNamespace, temporalUiUrl: env.TEMPORAL_UI_URL ?? null }
  if (env.TEMPORAL_ADDRESS) {
    await assertListening('TEMPORAL_ADDRESS', `tcp://${env.TEMPORAL_ADDRESS}`, TEMPORAL_PORT)
    report(context, 'Temporal', env.TEMPORAL_ADDRESS, Date.now() - begun)
    return { ...outside, temporalAddress: env.TEMPORAL_ADDRESS, temporalCluster: null }
  }
  const cli = await findTemporalCli({ env, signal })
  const { temporal: port, temporalUi: ui } = ports
  const temporalAddress = `127.0.0.1:${port}`
  if (set.places.temporal === TEMPORAL_ON_POSTGRES) {
    const programs = await findTemporalPrograms({ env, signal })
    const options = { programs, cli, home, port, namespace: temporalNamespace }
    const { database, server, metricsUrl } = await createTemporalCluster(options)
    await supervisor.start(database)
    await supervisor.start(server)
    report(context, 'Temporal', 'temporal-server on a Postgres of its own', Date.now() - begun)
    const temporalCluster = { databaseUrl: database.url(), metricsUrl }
    return { ...outside, temporalAddress, temporalCluster }
  }
  await supervisor.start(createTemporalPart(cli, home, { temporal: port, ui }))
  report(context, 'Temporal', `dev server, CLI ${cli.source}`, Date.now() - begun)
  const temporalUiUrl = `http://127.0.0.1:${ui}`
  return { temporalAddress, temporalNamespace, temporalCluster: null, temporalUiUrl }
}
