import { describe, expect, test } from 'vitest'
import { Linter, type ESLint } from 'eslint'

type Rules = { libraries: ESLint.Plugin; underInterfaces: object[] }
const file: string = '../dev/tools/eslintLibraries.js'
const { libraries, underInterfaces } = (await import(file)) as Rules

/** How many problems the linter has with a text. */
function countProblems(text: string): number {
  return new Linter().verify(text, {
    plugins: { libraries },
    rules: {
      'libraries/no-change': 'error',
      'no-restricted-syntax': ['error', ...underInterfaces],
    },
  }).length
}

describe('what reaches under the interface of a library is refused', () => {
  test.each([
    `import threads from 'node:worker_threads'; Object.assign(threads, { Worker: 1 })`,
    `import { Script } from 'node:vm'; Script.prototype.limit = 1`,
    `import pg from 'pg'; pg.defaults.poolSize = 1`,
    `client.query = (text) => text`,
    `connection.withMetadata = function (metadata, call) { return call() }`,
    `Response.prototype.json = undefined`,
    `Object.setPrototypeOf(response, {})`,
    `transaction._completed = true`,
    `const { _resolver } = transaction`,
    `bundle({ webpackConfigHook: slim })`,
    `start({ searchAttributes: { BuildIds: [] } })`,
    `define('BuildIds')`,
  ])('%s', (text) => {
    expect(countProblems(text)).toBeGreaterThan(0)
  })

  test.each([
    `import pg from 'pg'; const pool = new pg.Pool(); pool.options = 1`,
    `import { own } from './own.js'; Object.assign(own, { size: 1 })`,
    `const error = Object.assign(new Error(), { code: 1 })`,
    `noted.later = () => 1`,
    `const act = (_options, command) => command`,
  ])('not: %s', (text) => {
    expect(countProblems(text)).toBe(0)
  })
})
