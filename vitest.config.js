import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longestFirst.ts'

export default defineConfig({
  resolve: {
    alias: {
      '@steward/sdk': fileURLToPath(new URL('sdk/typescript/src/index.ts', import.meta.url)),
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
    globalSetup: './test/support/globalSetup.ts',
    setupFiles: ['./test/support/setup.ts'],
    reporters: ['default', './test/support/secondsReporter.ts', './test/support/tallyReporter.ts'],
  },
})
