import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/run/longestFirst.ts'

export default defineConfig({
  resolve: {
    alias: {
      '@steward/sdk': fileURLToPath(new URL('clients/typescript/src/index.ts', import.meta.url)),
    },
  },
  test: {
    dir: 'test',
    include: ['**/*.test.ts'],
    // Modules are loaded once per worker. No file may leave global state behind.
    isolate: false,
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    sequence: { hooks: 'list', sequencer: LongestFirst },
    globalSetup: './test/support/run/globalSetup.ts',
    setupFiles: ['./test/support/run/setup.ts'],
    reporters: [
      'default',
      './test/support/run/secondsReporter.ts',
      './test/support/run/tallyReporter.ts',
    ],
  },
})
