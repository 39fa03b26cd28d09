import { searchAttributeKinds } from '../../domain/events/searchAttributes.js'
import { type Home } from '../state/state.js'
import { startChild } from './child.js'
import { type Part } from './supervise.js'
import { type TemporalCli } from './temporalCli.js'

/**
 * By default a queue reader of the only shard polls 20 times per second, which delays each step by 40 ms. Backlogs
 * are served as in a deployment: by priority, then account by account, from one partition. A step goes directly to
 * the worker that polls for it. The command line's own default reads the search attributes from the database ten
 * times per workflow, to find new ones. Here they exist before the start. The pending tasks of a queue are kept as
 * one range with one reader. With a range per namespace, each new task would scan all pending tasks since the last
 * checkpoint.
 * @see https://github.com/temporalio/temporal/blob/main/common/dynamicconfig/constants.go
 */
const settings = [
  ...['transfer', 'timer', 'visibility'].flatMap((queue) => [
    `history.${queue}ProcessorMaxPollRPS=2000`,
    `history.${queue}QueueMaxReaderCount=1`,
  ]),
  ...['useNewMatcher', 'enableFairness'].map((setting) => `matching.${setting}=true`),
  ...['Read', 'Write'].map((way) => `matching.numTaskqueue${way}Partitions=1`),
  'system.enableActivityEagerExecution=true',
  'system.forceSearchAttributesCacheRefreshOnRead=false',
  'history.queueMaxPredicateSize=1',
]

/** Settings of every dev server. An existing namespace keeps its search attributes. */
export const temporalFlags: string[] = [
  ...settings.map((value) => ['--dynamic-config-value', value]),
  ...Object.entries(searchAttributeKinds).map(([name, kind]) => [
    '--search-attribute',
    `${name}=${kind}`,
  ]),
].flat()

/**
 * A write-ahead log survives a killed server and is as fast as an in-memory database. A workflow changes the same
 * pages repeatedly, so checkpoints happen after 32 MB of log instead of 4. No other process opens the file, so one
 * lock is held instead of a lock per transaction.
 */
const sqlitePragmas = [
  'journal_mode=WAL',
  'wal_autocheckpoint=8000',
  'synchronous=NORMAL',
  'locking_mode=EXCLUSIVE',
]

/**
 * Garbage collection starts at four times the live heap, which saves a fifteenth of the CPU per workflow. The memory
 * limit triggers it more often. The limit is the default usage with eight thousand cached workflows. A deployment's
 * server caches sixteen times as many and keeps the default, because its heap has no known bound.
 */
const garbage = { GOGC: '400', GOMEMLIMIT: '1GiB' }

const STOP_MS = 8_000

/** The development server of the Temporal CLI, with its state in a file. */
export function createTemporalPart(
  cli: TemporalCli,
  home: Home,
  ports: { temporal: number; ui: number },
): Part {
  const flags = [
    ['--ip', '127.0.0.1'],
    ['--db-filename', home.temporalDb],
    ['--port', String(ports.temporal)],
    ['--ui-port', String(ports.ui)],
    ['--log-level', 'warn'],
    ...sqlitePragmas.map((pragma) => ['--sqlite-pragma', pragma]),
  ]
  // The port opens before the namespace exists. The UI looks for the namespace at that port.
  const namespace = `http://127.0.0.1:${ports.ui}/api/v1/namespaces/default`
  return {
    name: 'temporal',
    start: (hooks) =>
      startChild(
        {
          name: 'temporal',
          command: cli.file,
          args: ['server', 'start-dev', ...flags.flat(), ...temporalFlags],
          env: { ...garbage, ...process.env },
          logFile: home.log('temporal'),
          ready: async () => (await fetch(namespace)).ok,
          stopTimeoutMs: STOP_MS,
        },
        hooks,
      ),
  }
}
