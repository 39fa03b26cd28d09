/**
 * Which folder may import which, besides itself. Everything points towards `domain/`, and no call
 * passes a file twice. `type:` folders may be imported as types only.
 */
const directions = {
  domain: [],
  chains: ['domain/'],
  db: ['domain/'],
  custody: ['domain/'],
  protocols: ['chains/', 'domain/'],
  lanes: ['protocols/', 'chains/', 'db/', 'domain/'],
  planning: ['protocols/', 'chains/', 'db/', 'domain/'],
  activities: ['planning/', 'lanes/', 'protocols/', 'chains/', 'db/', 'domain/'],
  workflows: ['domain/', 'type:activities/'],
  temporal: ['db/', 'domain/', 'type:workflows/'],
  api: [
    ...['temporal/', 'planning/', 'protocols/', 'chains/', 'db/', 'domain/'],
    ...['custody/seal\\.ts$', 'type:workflows/'],
  ],
  worker: ['temporal/', 'activities/', 'lanes/', 'protocols/', 'chains/', 'db/', 'domain/'],
  devnet: ['chains/', 'domain/'],
  dev: ['db/', 'devnet/', 'chains/', 'domain/'],
}

/** What the entry files wire together and pass down: settings, the logger, the way to stop. */
const wiring = '^(config|log|lifecycle)\\.ts$'
const settings = '^(config|lifecycle)\\.ts$'
const entries = '^(api/main|worker/main|worker/signer)\\.ts$|^(scripts|dev)/'

/** The part of `lanes/` that only the signer's process loads, and within it what opens keys. */
const signing = '^lanes/(sign|store|prepare|calls|keys)\\.ts$'
const opening = '^lanes/(sign|store|keys)\\.ts$'
const signer = '^worker/signer\\.ts$'

/** Not part of the service: may look everywhere. */
const outside = '^(test|bench)/'
/** Runs from a checkout, with the development dependencies. */
const checkout = '^(test|bench|dev|devnet)/|^[^/]+\\.config\\.js$|^db/embedded\\.ts$'

const packages = '(^|/)node_modules/'

function directionRules([folder, targets]) {
  const types = targets.filter((target) => target.startsWith('type:'))
  const allowed = targets.map((target) => target.replace('type:', ''))
  const own = {
    name: `${folder}-imports-only-what-it-may`,
    severity: 'error',
    from: { path: `^${folder}/`, pathNot: [signing, signer] },
    to: {
      pathNot: [packages, `^${folder}/`, ...allowed.map((target) => `^${target}`), wiring],
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

/** Shorthand for a rule that has no exception but those in its paths. */
const forbid = (name, from, to) => ({ name, severity: 'error', from, to })

module.exports = {
  forbidden: [
    ...Object.entries(directions).flatMap(directionRules),

    forbid('no-cycles', {}, { circular: true }),
    forbid('no-missing-modules', {}, { couldNotResolve: true }),
    // A benchmark measures what a test proves, on the same servers.
    forbid('nothing-imports-tests', { pathNot: '^(test|bench)/' }, { path: '^test/' }),
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
      { path: '(^|/)node_modules/@temporalio/' },
    ),
    forbid(
      'embedded-postgres-stands-alone',
      { path: '^db/embedded\\.ts$' },
      { pathNot: packages, dependencyTypesNot: ['core'] },
    ),
    forbid(
      'embedded-postgres-is-for-checkouts',
      { pathNot: checkout },
      { path: '^db/embedded\\.ts$' },
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
      'signing-lanes-import-only-what-they-may',
      { path: signing },
      {
        pathNot: [packages, '^(lanes|custody|protocols|chains|db|domain)/'],
        dependencyTypesNot: ['core'],
      },
    ),
    forbid(
      'signer-imports-only-what-it-may',
      { path: signer },
      {
        pathNot: [packages, '^(worker|lanes|custody|chains|db|domain)/', wiring],
        dependencyTypesNot: ['core'],
      },
    ),
    forbid(
      'only-the-signer-opens-keys',
      { pathNot: [opening, signer, '^custody/', outside] },
      { path: '^custody/(open|kek)\\.ts$', reachable: true },
    ),
    forbid(
      'only-the-signer-signs',
      { pathNot: [signing, signer, outside] },
      { path: signing, reachable: true },
    ),
    ...[signing, signer].map((path, index) =>
      forbid(
        `${['signing-lanes', 'signer'][index]}-never-reach-temporal`,
        { path },
        { path: '(^|/)node_modules/@temporalio/', reachable: true },
      ),
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|coverage|\\.steward|docs)/' },
    tsConfig: { fileName: 'tsconfig.json' },
    // Type imports count: a cycle of types is a cycle of thoughts.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
    },
  },
}
