/** @type {import('jest').Config} */
export default {
  // The crawl stays out of `.steward/`, whose files a database server owns.
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  testEnvironment: 'node',
  testTimeout: 60_000,
  maxWorkers: 2,
  // Modules of the ESM loader are not given back between test files.
  workerIdleMemoryLimit: '1GB',
  injectGlobals: false,
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^@steward/sdk$': '<rootDir>/sdk/typescript/src/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  transform: {
    '\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2023',
          parser: { syntax: 'typescript' },
          experimental: { keepImportAttributes: true },
        },
        sourceMaps: 'inline',
      },
    ],
  },
  globalSetup: '<rootDir>/test/support/globalSetup.js',
  globalTeardown: '<rootDir>/test/support/globalTeardown.js',
  reporters: ['default', '<rootDir>/test/support/tallyReporter.js'],
}
