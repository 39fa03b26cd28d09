import { findTemporalCli } from '../../dev/parts/temporalCli.js'
import { startTemplate } from './database.js'
import { createRunFolder } from './runFolder.js'
import { prepareTestServer } from './temporal/testServer.js'
import { prepareServices } from './temporal/workflowBundle.js'

/**
 * Starts or fetches once what several test files need. The helpers in this folder find it through
 * environment variables, which jest's workers inherit.
 *
 * @param patterns - What the caller restricts the test files to; empty for all.
 */
export async function startShared(patterns: string[]): Promise<{ stop(): Promise<void> }> {
  const folder = await createRunFolder()
  const stops = [() => folder.remove()]
  const stop = async () => {
    for (const stopOne of stops.reverse()) await stopOne()
  }
  try {
    // One after the other: a failing step must not leave another one half started.
    const template = await startTemplate(folder)
    stops.push(() => template.stop())
    await Promise.all([prepareTestServer(), prepareServices()])
    if (wantsTemporal(patterns)) await prepareTemporalCli()
  } catch (error) {
    await stop()
    throw error
  }
  return { stop }
}

/** The tests that start a Temporal server: alone, or with the whole stack. */
const TEMPORAL_TESTS = /e2e|worker|temporal|health/

function wantsTemporal(patterns: string[]): boolean {
  return patterns.length === 0 || patterns.some((pattern) => TEMPORAL_TESTS.test(pattern))
}

/**
 * Building the Temporal server takes minutes, once: here it shows its progress and needs no time limit
 * of a test. When it fails, the tests that need it say so.
 */
async function prepareTemporalCli(): Promise<void> {
  if (!process.env.TEMPORAL_ADDRESS) await findTemporalCli().catch(() => undefined)
}
