/** Shares one call between concurrent callers of chains or Temporal. It has a clock and imports nothing. */
const share = 'share\\.ts$'

/**
 * Folders that a folder may import, besides itself. All imports point towards `domain/`, without cycles. `type:`
 * folders may be imported as types only.
 */
const directions = {
  domain: [],
  chains: ['domain/', share],
  db: ['domain/'],
  custody: ['domain/'],
  protocols: ['evm/', 'domain/', share],
  planning: ['evm/', 'evm/', 'db/', 'domain/'],
  // Compares the registry with the chains. Every process runs it and caches the result.
  probe: ['evm/', 'evm/', 'db/', 'domain/', share],
  senders: ['operations/health/', 'evm/', 'evm/', 'db/', 'domain/'],
  // Of the relayer only the id and the outcome of an operation.
  signer: [
    ...['senders/(operationId|outcome)\\.ts$', 'custody/', 'operations/health/'],
    ...['evm/', 'evm/', 'db/', 'domain/', share],
  ],
  // An operator command. It reads logs like the relayer. Its caller passes in what it needs of workflows.
  audit: ['senders/', 'evm/', 'evm/', 'db/', 'domain/'],
  // Deliveries to endpoints of callers, and the addresses that they may use.
  webhooks: ['custody/(seal|hpke)\\.ts$', 'domain/'],
  activities: ['activities/webhooks/', 'planning/', 'senders/', 'evm/', 'evm/', 'db/', 'domain/'],
  workflows: ['domain/', 'type:activities/'],
  temporal: ['db/', 'domain/', share, 'type:workflows/'],
  api: [
    ...['workflows/client/', 'planning/', 'operations/health/', 'evm/', 'evm/', 'db/', 'domain/'],
    ...['webhooks/(address|failure|secrets)\\.ts$', 'custody/account\\.ts$', 'type:workflows/'],
  ],
  worker: [
    'workflows/client/',
    'activities/webhooks/',
    'activities/',
    'senders/',
    'operations/health/',
    'evm/',
    'evm/',
    'db/',
    'domain/',
  ],
  devnet: ['evm/bridges/cctp/message\\.ts$', 'evm/', 'domain/'],
  dev: ['clients/typescript/src/index\\.ts$', 'db/', 'dev/devnet/', 'evm/', 'domain/'],
}

/** Directions within `api/`: `http` does not import endpoints, `schemas` imports neither. */
const apiRooms = {
  schemas: [],
  http: ['schemas'],
  endpoints: ['http', 'schemas'],
  docs: ['http', 'schemas'],
  // Endpoints as tools: it calls their handlers.
  mcp: ['endpoints', 'docs', 'http', 'schemas'],
}

/** Settings, logger and shutdown: entry files import them and pass them down. */
const wiring = '^(config|log|process|faultPoints)\\.ts$'
/** Every folder may import these files. They import nothing. */
const runtime = '^(notifier|cache|durations|limiter|timeout)\\.ts$'
const settings = '^(config|process)\\.ts$'
const entries = '^(api|worker|senders|signer)/main\\.ts$|^(scripts|dev)/'

/** Not part of the service: may import everything. */
const outside = '^(test|bench)/'
/** Runs from a checkout, with development dependencies. */
const checkout =
  '^(test|bench|dev|devnet|web)/|^clients/cli/build\\.js$|^[^/]+\\.config\\.js$|^clients/typescript/build\\.js$'

const packages = '(^|/)node_modules/'
const temporalPackages = '(^|/)node_modules/@temporalio/'

function directionRules([folder, targets]) {
  const types = targets.filter((target) => target.startsWith('type:'))
  const allowed = targets.map((target) => target.replace('type:', ''))
  const own = {
    name: `${folder}-imports-only-what-it-may`,
    severity: 'error',
    from: { path: `^${folder}/` },
    to: {
      pathNot: [packages, `^${folder}/`, ...allowed.map((target) => `^${target}`), wiring, runtime],
      dependencyTypesNot: ['core'],
    },
  }
  const asTypes = types.map((target) => ({
    name: `${folder}-imports-${target.slice(5, -1)}-as-types-only`,
    severity: 'error',
    from: { path: `^${folder}/` },
    to: { path: `^${target.slice(5)}`, dependencyTypesNot: ['type-only'] },
  }))
  return [own, ...asTypes]
}

/** A rule with severity `error`. */
const forbid = (name, from, to) => ({ name, severity: 'error', from, to })

const apiRoomRules = Object.entries(apiRooms).map(([room, allowed]) =>
  forbid(
    `api-${room}-imports-only-what-it-may`,
    { path: `^api/${room}/` },
    { path: '^api/', pathNot: [room, ...allowed].map((name) => `^api/${name}/`) },
  ),
)

module.exports = {
  forbidden: [
    ...Object.entries(directions).flatMap(directionRules),
    ...apiRoomRules,

    // The dashboard runs in a browser. Of the server it imports only types of responses.
    forbid(
      'web-imports-nothing-of-the-server',
      { path: '^clients/dashboard/' },
      { pathNot: [packages, '^clients/dashboard/'], dependencyTypesNot: ['type-only'] },
    ),
    forbid(
      'web-imports-types-of-schemas-only',
      { path: '^clients/dashboard/' },
      {
        path: '^',
        pathNot: [packages, '^clients/dashboard/', '^api/schemas/', '^domain/(roles|events)\\.ts$'],
      },
    ),
    forbid(
      'nothing-imports-web',
      { pathNot: ['^clients/dashboard/', outside] },
      { path: '^clients/dashboard/' },
    ),

    // The command line uses the public SDK only.
    forbid(
      'cli-imports-the-sdk-only',
      { path: '^clients/cli/' },
      {
        pathNot: [packages, '^clients/cli/', '^clients/typescript/src/index\\.ts$'],
        dependencyTypesNot: ['core'],
      },
    ),
    forbid(
      'nothing-imports-the-cli',
      { pathNot: ['^clients/cli/', outside] },
      { path: '^clients/cli/' },
    ),

    // The SDK is a package of its own, imported by its name.
    forbid(
      'sdk-imports-nothing',
      { path: '^clients/typescript/src/' },
      { pathNot: '^clients/typescript/src/' },
    ),
    forbid(
      'sdk-is-imported-by-its-name',
      { pathNot: '^(sdk|test/sdk)/' },
      { path: '^sdk/', pathNot: '^clients/typescript/src/index\\.ts$' },
    ),

    forbid('share-imports-nothing', { path: `^${share}` }, {}),
    forbid('runtime-imports-nothing', { path: runtime }, {}),
    forbid('no-cycles', {}, { circular: true }),
    forbid('no-missing-modules', {}, { couldNotResolve: true }),
    // A benchmark measures what a test proves, on the same servers.
    forbid(
      'nothing-imports-tests',
      { pathNot: '^(test|bench)/|^vitest\\.config\\.js$' },
      { path: '^test/' },
    ),
    forbid('nothing-imports-benchmarks', { pathNot: '^bench/' }, { path: '^bench/' }),
    forbid(
      'only-entries-import-settings',
      { pathNot: [entries, wiring, outside] },
      { path: settings },
    ),
    forbid(
      'only-entries-import-the-log-as-a-value',
      { pathNot: [entries, wiring, outside] },
      { path: '^log\\.ts$', dependencyTypesNot: ['type-only'] },
    ),

    forbid(
      'domain-and-workflows-do-no-io',
      { path: '^(domain|workflows)/' },
      { dependencyTypes: ['core'] },
    ),
    forbid(
      'domain-uses-zod-only',
      { path: '^domain/' },
      { path: packages, pathNot: '(^|/)node_modules/zod/' },
    ),
    forbid(
      'temporal-only-where-workflows-run-or-start',
      { pathNot: ['^(api|temporal|workflows|activities|worker|scripts|dev)/', outside] },
      { path: temporalPackages },
    ),
    forbid(
      'no-development-packages-in-the-service',
      { pathNot: checkout },
      {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['type-only'],
      },
    ),

    // The signer: the only process that opens keys, and the one with the fewest dependencies.
    forbid(
      'only-the-signer-opens-keys',
      { pathNot: ['^(signer|custody)/', outside] },
      { path: '^custody/(open\\.ts$|kek/)', reachable: true },
    ),
    forbid(
      'nothing-imports-the-signer',
      { pathNot: ['^signer/', outside] },
      { path: '^signer/', reachable: true },
    ),
    ...['signer', 'relayer'].map((room) =>
      forbid(
        `${room}-never-reach-temporal`,
        { path: `^${room}/` },
        { path: temporalPackages, reachable: true },
      ),
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|clients/dashboard/dist|coverage|\\.steward|docs)/' },
    tsConfig: { fileName: 'tsconfig.json' },
    // Type imports count as cycles.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
    },
  },
}
