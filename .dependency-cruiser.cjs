/**
 * The folders that each folder may import, besides itself and `runtime/`. Everything points towards `domain/`.
 * A `type:` folder may be imported as types only.
 */
const directions = {
  domain: [],
  evm: ['domain/'],
  db: ['domain/'],
  custody: ['domain/'],
  planning: ['evm/', 'db/', 'domain/'],
  operations: ['evm/', 'db/', 'domain/'],
  relayer: ['operations/', 'evm/', 'db/', 'domain/'],
  signer: ['custody/', 'operations/', 'evm/', 'db/', 'domain/'],
  activities: ['custody/(seal|hpke)\\.ts$', 'planning/', 'operations/', 'evm/', 'db/', 'domain/'],
  'workflows/(?!client/)': ['workflows/', 'domain/', 'type:activities/'],
  'workflows/client': ['db/', 'domain/', 'type:workflows/'],
  worker: ['workflows/', 'activities/', 'operations/', 'evm/', 'db/', 'domain/'],
  api: [
    ...['workflows/client/', 'planning/', 'operations/', 'evm/', 'db/', 'domain/'],
    ...['activities/webhooks/(address|failure|secrets)\\.ts$', 'custody/account\\.ts$'],
    'type:workflows/',
  ],
  // The audit matches logs with rows by the functions of the relayer.
  'admin/audit': [
    'relayer/',
    'operations/',
    'evm/',
    'db/',
    'domain/',
    'admin/',
    'workflows/client/',
  ],
  'dev/devnet': ['evm/', 'domain/'],
}

/** Within `api/`: what every request passes imports no endpoint, and a schema imports neither. */
const apiDirections = {
  schemas: [],
  http: ['schemas'],
  endpoints: ['http', 'schemas'],
  docs: ['http', 'schemas'],
  // The tools of `/mcp` call the functions of the endpoints.
  mcp: ['endpoints', 'docs', 'http', 'schemas'],
}

/** Within `db/`: every folder runs its statements through `client`. */
const dbDirections = {
  client: [],
  webhooks: ['client'],
  accounts: ['client', '[^/]+\\.ts$'],
  usage: ['accounts', 'intents', 'client'],
  intents: ['accounts', 'client', '[^/]+\\.ts$'],
}

/** Entry files wire these together and pass them down: settings, the logger, the way to stop. */
const wiring = '^runtime/(config|settings|log|process|faultPoints)\\.ts$'
const settings = '^runtime/(config|settings|process)\\.ts$'
const entries = '^(api|worker|relayer|signer)/main\\.ts$|^(admin|dev)/'

/** Not part of the service: may import everything. */
const outside = '^(test|bench)/'
/** Runs from a checkout, with the development dependencies. */
const checkout =
  '^(test|bench|dev|clients/dashboard)/|^clients/(cli|typescript)/build\\.js$|^[^/]+\\.config\\.js$'

const packages = '(^|/)node_modules/'
const temporalPackages = '(^|/)node_modules/@temporalio/'

const nameOf = (folder) => folder.replace(/\(.*$/, '').replace(/\/$/, '').replace('/', '-')

function directionRules([folder, targets]) {
  const types = targets.filter((target) => target.startsWith('type:'))
  const allowed = targets.map((target) => `^${target.replace('type:', '')}`)
  const from = { path: folder.endsWith(')') ? `^${folder}` : `^${folder}/` }
  const own = {
    name: `${nameOf(folder)}-imports-only-what-it-may`,
    severity: 'error',
    from,
    to: {
      pathNot: [packages, from.path, '^runtime/', ...allowed],
      dependencyTypesNot: ['core'],
    },
  }
  const asTypes = types.map((target) => ({
    name: `${nameOf(folder)}-imports-${target.slice(5, -1)}-as-types-only`,
    severity: 'error',
    from,
    to: { path: `^${target.slice(5)}(?!client/)`, dependencyTypesNot: ['type-only'] },
  }))
  return [own, ...asTypes]
}

/** Shorthand for a rule that has no exception but those in its paths. */
const forbid = (name, from, to) => ({ name, severity: 'error', from, to })

const innerRules = (top, inner) =>
  Object.entries(inner).map(([folder, allowed]) =>
    forbid(
      `${top}-${folder}-imports-only-what-it-may`,
      { path: `^${top}/${folder}/` },
      {
        path: `^${top}/`,
        pathNot: [folder, ...allowed].map((name) =>
          name.endsWith('$') ? `^${top}/${name}` : `^${top}/${name}/`,
        ),
      },
    ),
  )

module.exports = {
  forbidden: [
    ...Object.entries(directions).flatMap(directionRules),
    ...innerRules('api', apiDirections),
    ...innerRules('db', dbDirections),

    // The dashboard runs in a browser: it knows the types of the API's answers and nothing else of the server.
    forbid(
      'dashboard-imports-nothing-of-the-server',
      { path: '^clients/dashboard/' },
      { pathNot: [packages, '^clients/dashboard/'], dependencyTypesNot: ['type-only'] },
    ),
    forbid(
      'dashboard-imports-types-of-schemas-only',
      { path: '^clients/dashboard/' },
      {
        path: '^',
        pathNot: [
          ...[packages, '^clients/dashboard/', '^api/schemas/'],
          '^domain/(roles|events/events)\\.ts$',
        ],
      },
    ),
    forbid(
      'nothing-imports-the-dashboard',
      { pathNot: ['^clients/dashboard/', outside] },
      { path: '^clients/dashboard/' },
    ),

    // The command line is a client of the SDK.
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
      // The page of all commands is generated from the program.
      { pathNot: ['^clients/cli/', '^dev/reference/', outside] },
      { path: '^clients/cli/' },
    ),

    // The SDK is installed alone, and imported by its package name.
    forbid(
      'sdk-imports-nothing',
      { path: '^clients/typescript/src/' },
      { pathNot: '^clients/typescript/src/' },
    ),
    forbid(
      'sdk-is-imported-by-its-name',
      { pathNot: '^(test/)?clients/typescript/' },
      { path: '^clients/typescript/', pathNot: '^clients/typescript/src/index\\.ts$' },
    ),

    forbid(
      'runtime-imports-only-what-it-may',
      { path: '^runtime/(?!config|settings|limitSettings)' },
      { path: '^[^/]+/', pathNot: ['^runtime/', packages, '^domain/errors\\.ts$'] },
    ),
    forbid('no-cycles', {}, { circular: true }),
    forbid('no-missing-modules', {}, { couldNotResolve: true }),
    // A benchmark measures on the servers of the tests.
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
      { path: '^runtime/log\\.ts$', dependencyTypesNot: ['type-only'] },
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
      { pathNot: ['^(api|workflows|activities|worker|admin|dev)/', outside] },
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

    // The signer is the only process that opens keys, and the one with the fewest dependencies.
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
    ...['signer', 'relayer'].map((folder) =>
      forbid(
        `${folder}-never-reaches-temporal`,
        { path: `^${folder}/` },
        { path: temporalPackages, reachable: true },
      ),
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|clients/[^/]+/dist|coverage|\\.steward|docs)/' },
    tsConfig: { fileName: 'tsconfig.json' },
    // Type imports count: a cycle of types is a cycle of thoughts.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
    },
  },
}
