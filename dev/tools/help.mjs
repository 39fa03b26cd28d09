// `npm run help`: the scripts of package.json in groups, one line each. Plain JavaScript, because it also runs in a
// checkout without packages.

/** Scripts by group, in the order of their use. Scripts that only other scripts call are left out. */
const groups = {
  'Run it on this machine': {
    start: 'starts the whole service with local chains; Ctrl-C stops it',
    demo: 'runs the demo of npm start again, on the running service',
    devnet: 'lets days pass and mints test money on the local chains',
  },
  'Operate a deployment': {
    migrate: 'creates or updates the database',
    account: 'manages accounts, keys, members, credits, pauses and senders',
    doctor: 'checks settings, database, chains and Temporal',
    audit: 'compares the rows of the database with the chains and Temporal',
    build: 'compiles the service and the dashboard to dist/',
    'build:web': 'builds the dashboard only',
  },
  Test: {
    test: 'runs the quick tier; npm test -- test/domain runs a folder',
    'test:deep': 'runs the deep tier: load, crashes, outages, random faults, long waits',
    'test:full': 'runs both tiers',
    mutants: 'applies known bugs one by one; a test must catch each',
    fuzz: 'sends generated requests to a running service and checks each response',
    chaos: 'runs intents while processes and connections fail',
  },
  Check: {
    format: 'formats all files',
    check: 'runs all checks below',
    'check:types': 'compiles without output',
    'check:lint': 'runs eslint',
    'check:format': 'refuses files that prettier would change',
    'check:directions': 'refuses imports against the graph of docs/architecture',
    'check:unused': 'refuses unused files, exports and packages',
    'check:api': 'refuses an outdated or invalid OpenAPI document',
    'check:samples': 'refuses outdated code samples',
    'check:reference': 'refuses outdated pages of the reference',
    'check:words': 'refuses words that the language rules exclude',
  },
  'Generate files': {
    openapi: 'writes the OpenAPI document, the Postman collection and the page of errors',
    reference: 'writes the reference of settings and command line',
    samples: 'writes the code samples of the guides',
    screenshots: 'writes the pictures of the dashboard',
  },
  Measure: {
    'bench:api': 'measures requests',
    'bench:intents': 'measures the time of a lend',
    'bench:saturation': 'measures lends per second and CPU per lend',
    'bench:senders': 'measures operations per second of signer and relayer',
    'bench:growth': 'compares the calls on a large database with those on a small one',
    scale: 'lends with many wallets at once, on two processes of each role',
  },
}

const all = Object.values(groups).flatMap((group) => Object.keys(group))
const width = Math.max(...all.map((name) => name.length))
for (const [title, scripts] of Object.entries(groups)) {
  console.log(`${title}:`)
  for (const [name, about] of Object.entries(scripts)) {
    console.log(`  npm run ${name.padEnd(width)}  ${about}`)
  }
  console.log('')
}
console.log('Arguments follow two dashes: npm run account -- --help')
