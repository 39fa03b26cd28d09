import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createHome, removeHome, startStack } from '../e2e/stack.js'
import { startTemplate } from './database.js'
import { createRunFolder } from './run/runFolder.js'
import { startTemporalServer } from './temporal/temporalServer.js'
import { prepareTestServer } from './temporal/testServer.js'
import { prepareServices } from './temporal/workflowBundle.js'
import type { SharedFacts, SharedName } from './fixtures.js'

/** `facts` is called for each test that requests the fixture. */
type StartedFixture<Facts> = { facts(): Facts; stop(): Promise<void> }
type Starters = { [Name in SharedName]: () => Promise<StartedFixture<SharedFacts[Name]>> }

/** Namespaces of the Temporal server of a run. */
const NAMESPACES = 40

const starters: Starters = {
  async temporal() {
    // Namespaces of the server's start are ready at once. A later one gets its search attributes after seconds.
    const free = Array.from({ length: NAMESPACES }, (_, i) => `test-${i}`)
    const { address, port, stop } = await startTemporalServer(undefined, free)
    return {
      facts() {
        const namespace = free.pop()
        if (!namespace) throw new Error(`More than ${NAMESPACES} tests share the Temporal server.`)
        return { address, port, namespace }
      },
      stop,
    }
  },
  async stack() {
    const home = await createHome()
    const stack = await startStack(home)
    return {
      facts: () => ({ home, facts: stack.facts }),
      async stop() {
        await stack.stop()
        removeHome(home)
      },
    }
  },
}

/**
 * Starts the fixtures that every run needs, and serves `getShared`: a fixture starts for the first test that requests
 * it and stops at the end of the run.
 */
export async function startShared(): Promise<{ stop(): Promise<void> }> {
  const folder = await createRunFolder()
  const stops = [() => folder.remove()]
  const stop = async () => {
    for (const stopOne of stops.reverse()) await stopOne()
  }
  try {
    // In sequence, so that a failing step leaves no other one half started.
    const template = await startTemplate(folder)
    stops.push(() => template.stop())
    await Promise.all([prepareTestServer(), prepareServices()])
    stops.push(await serveStarters())
  } catch (error) {
    await stop()
    throw error
  }
  return { stop }
}

/** Test workers request fixtures by HTTP, because each one is a process of its own. */
async function serveStarters(): Promise<() => Promise<void>> {
  const started = new Map<string, Promise<StartedFixture<unknown>>>()
  const server = createServer((request, response) => {
    const name = (request.url ?? '').slice(1) as SharedName
    const starting = started.get(name) ?? starters[name]()
    started.set(name, starting)
    starting
      .then(({ facts }) => response.end(JSON.stringify(facts())))
      .catch((error: Error) => response.writeHead(500).end(error.stack))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  process.env.TEST_SHARED_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return async () => {
    server.close()
    server.closeAllConnections()
    const running = await Promise.allSettled(started.values())
    for (const one of running) if (one.status === 'fulfilled') await one.value.stop()
  }
}
