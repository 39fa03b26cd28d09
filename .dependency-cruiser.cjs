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
  protocols: ['chains/', 'domain/', share],
  planning: ['protocols/', 'chains/', 'db/', 'domain/'],
  // Compares the registry with the chains. Every process runs it and caches the result.
  probe: ['protocols/', 'chains/', 'db/', 'domain/', share],
  lanes: ['probe/', 'protocols/', 'chains/', 'db/', 'domain/'],
  // Of the relayer only the id and the outcome of an operation.
  signer: [
    ...['lanes/(operationId|outcome)\\.ts$', 'custody/', 'probe/'],
    ...['protocols/', 'chains/', 'db/', 'domain/', share],
  ],
  // An operator command. It reads logs like the relayer. Its caller passes in what it needs of workflows.
  audit: ['lanes/', 'protocols/', 'chains/', 'db/', 'domain/'],
  // Deliveries to endpoints of callers, and the addresses that they may use.
  webhooks: ['custody/(seal|hpke)\\.ts$', 'domain/'],
  activities: ['webhooks/', 'planning/', 'lanes/', 'protocols/', 'chains/', 'db/', 'domain/'],
  workflows: ['domain/', 'type:activities/'],
  temporal: ['db/', 'domain/', share, 'type:workflows/'],
  api: [
    ...['temporal/', 'planning/', 'probe/', 'protocols/', 'chains/', 'db/', 'domain/'],
    ...['webhooks/(address|failure|secrets)\\.ts$', 'custody/account\\.ts$', 'type:workflows/'],
  ],
  worker: [
    'temporal/',
    'webhooks/',
    'activities/',
    'lanes/',
    'probe/',
    'protocols/',
    'chains/',
    'db/',
    'domain/',
  ],
  devnet: ['protocols/bridges/cctp/message\\.ts$', 'chains/', 'domain/'],
  dev: ['sdk/typescript/src/index\\.ts$', 'db/', 'devnet/', 'chains/', 'domain/'],
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
const wiring = '^(config|log|process|crashPoints)\\.ts$'
/** Every folder may import these files. They import nothing. */
const runtime = '^(bell|cache|durations|limiter|timeout)\\.ts$'
const settings = '^(config|process)\\.ts$'
const entries = '^(api|worker|lanes|signer)/main\\.ts$|^(scripts|dev)/'

/** Not part of the service: may import everything. */
const outside = '^(test|bench)/'
/** Runs from a checkout, with development dependencies. */
const checkout =
  '^(test|bench|dev|devnet|web)/|^cli/build\\.js$|^[^/]+\\.config\\.js$|^sdk/typescript/build\\.js$'

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
      { path: '^web/' },
      { pathNot: [packages, '^web/'], dependencyTypesNot: ['type-only'] },
    ),
    forbid(
      'web-imports-types-of-schemas-only',
      { path: '^web/' },
      { path: '^', pathNot: [packages, '^web/', '^api/schemas/', '^domain/(roles|events)\\.ts$'] },
    ),
    forbid('nothing-imports-web', { pathNot: ['^web/', outside] }, { path: '^web/' }),

    // The command line uses the public SDK only.
    forbid(
      'cli-imports-the-sdk-only',
      { path: '^cli/' },
      {
        pathNot: [packages, '^cli/', '^sdk/typescript/src/index\\.ts$'],
        dependencyTypesNot: ['core'],
      },
    ),
    forbid('nothing-imports-the-cli', { pathNot: ['^cli/', outside] }, { path: '^cli/' }),

    // The SDK is a package of its own, imported by its name.
    forbid(
      'sdk-imports-nothing',
      { path: '^sdk/typescript/src/' },
      { pathNot: '^sdk/typescript/src/' },
    ),
    forbid(
      'sdk-is-imported-by-its-name',
      { pathNot: '^(sdk|test/sdk)/' },
      { path: '^sdk/', pathNot: '^sdk/typescript/src/index\\.ts$' },
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
    ...['signer', 'lanes'].map((room) =>
      forbid(
        `${room}-never-reach-temporal`,
        { path: `^${room}/` },
        { path: temporalPackages, reachable: true },
      ),
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|web/dist|coverage|\\.steward|docs)/' },
    tsConfig: { fileName: 'tsconfig.json' },
    // Type imports count as cycles.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
    },
  },
}
