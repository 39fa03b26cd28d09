import { searchAttributeKinds } from '../../domain/events/searchAttributes.js'
import { type Home } from '../state/state.js'
import { startChild } from './child.js'
import { type Part } from './supervise.js'
import { type TemporalCli } from './temporalCli.js'

/**
 * By default a queue reader of the only shard asks 20 times a second, so that every step waits 40 ms for nothing. What
 * a backlog is served by is set as in a deployment: by priority, then account by account, over one partition; and a
 * step goes to the worker that has just asked for it, by no queue. The command line's own default reads the search
 * attributes from the database ten times a workflow, for those that appear while it runs; here they are known before.
 * What a queue of the shard has under way is kept as one range of tasks, read by one reader: in ranges by namespace,
 * which differ from that of new tasks, each new task would have it look through all that was under way when it last
 * noted how far it had come.
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

/** What a dev server is told wherever it runs. A namespace that is there already keeps the attributes that it has. */
export const temporalFlags: string[] = [
  ...settings.map((value) => ['--dynamic-config-value', value]),
  ...Object.entries(searchAttributeKinds).map(([name, kind]) => [
    '--search-attribute',
    `${name}=${kind}`,
  ]),
].flat()

/**
 * A write-ahead log survives a killed server, and is as fast as no file at all. A workflow changes the same pages over
 * and over: they are taken over into the file by 32 MB of the log instead of 4. Nobody else opens the file: kept locked,
 * it is not locked anew for each transaction.
 */
const sqlitePragmas = [
  'journal_mode=WAL',
  'wal_autocheckpoint=8000',
  'synchronous=NORMAL',
  'locking_mode=EXCLUSIVE',
]

/**
 * Garbage is collected when it is four times what lives, which is a fifteenth less CPU for each workflow; more and more
 * often where that would take more than it takes by default with eight thousand workflows in its cache. A deployment's
 * server keeps sixteen times as many, and so the default: there its heap would have no bound that is known.
 */
const garbage = { GOGC: '400', GOMEMLIMIT: '1GiB' }

const STOP_MS = 8_000

/** The development server of the command line, on a file. */
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
  // The port opens before the namespace is there; the UI asks for it at that port.
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
