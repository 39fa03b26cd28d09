import { describe, expect, test } from 'vitest'
import { spawnSync } from 'node:child_process'
import { ServiceError } from '../../domain/errors.js'
import { createCapturedLog } from '../support/capturedLog.js'
import type { Log } from '../../runtime/log.js'

const secret = 'postgres://user:hunter2@db/steward'

/** The output of a log while `action` uses it. */
function linesOf(action: (log: Log) => void): { text: string; lines: Record<string, unknown>[] } {
  const { log, lines } = createCapturedLog('test', 'info')
  action(log)
  return {
    text: lines.join(''),
    lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>),
  }
}

/** The standard output of a process that logs and then runs `action`. */
function outputOf(action: string): string {
  const log = new URL('../../runtime/log.ts', import.meta.url).href
  const script = `import { createLog } from '${log}'
    const log = createLog('test', 'info')
    log.info('hello')
    ${action}`
  const args = ['--import', 'tsx', '--input-type=module', '--eval', script]
  return spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout
}

describe('createLog', () => {
  test.each([
    ['ends', ''],
    ['exits', 'process.exit()'],
    ['is killed', 'log.fatal("bye"); process.kill(process.pid, "SIGKILL")'],
    ['continues', 'setTimeout(() => process.kill(process.pid, "SIGTERM"), 1_000)'],
  ])('loses no line when the process %s', (_how, action) => {
    expect(outputOf(action)).toContain('"msg":"hello"')
  })

  test('our own errors: code, message, details', () => {
    const error = new ServiceError('RPC_ERROR', 'No answer.', { chain: 'a' })
    const { lines } = linesOf((log) => log.error({ err: error, requestId: 'r' }, 'failed'))
    expect(lines).toMatchObject([{ msg: 'failed', requestId: 'r' }])
    expect(lines[0]?.err).toEqual({
      ...{
        name: 'ServiceError',
        code: 'RPC_ERROR',
        message: 'No answer.',
        details: { chain: 'a' },
      },
    })
  })

  test('foreign errors: name, code and stack frames, never the message', () => {
    const error = Object.assign(new TypeError(`no route to ${secret}`), { code: 'ECONNREFUSED' })
    const { lines, text } = linesOf((log) => log.error({ err: error }, 'failed'))
    expect(lines[0]?.err).toMatchObject({ name: 'TypeError', code: 'ECONNREFUSED' })
    expect((lines[0]?.err as { at: string[] }).at[0]).toContain('log.test')
    expect(text).not.toContain('hunter2')
  })

  test.each([
    [
      'as the cause of our own error',
      (log: Log, error: Error) => {
        const outer = new ServiceError('UNAVAILABLE', 'Away.', {}, { cause: error })
        log.warn({ err: outer }, 'failed')
      },
    ],
    ['without a message', (log: Log, error: Error) => log.error({ err: error })],
    ['alone', (log: Log, error: Error) => log.error(error)],
    ['alone, with a message', (log: Log, error: Error) => log.error(error, 'failed')],
  ] as const)('omits a foreign message: %s', (_title, say) => {
    const { text, lines } = linesOf((log) => say(log, new Error(secret)))
    expect(lines).toHaveLength(1)
    expect(text).not.toContain('hunter2')
  })

  test('omits a message that looks like a stack', () => {
    const { text } = linesOf((log) =>
      log.error({ err: new Error(`x\n    at ${secret}`) }, 'failed'),
    )
    expect(text).not.toContain('hunter2')
  })

  test('omits an invalid code, and values that are not errors', () => {
    const odd = Object.assign(new Error(''), { code: { url: secret } })
    const { text } = linesOf((log) => {
      log.error({ err: odd }, 'failed')
      log.error({ err: secret }, 'failed')
    })
    expect(text).not.toContain('hunter2')
  })

  test('logs a message without facts', () => {
    expect(linesOf((log) => log.info('hello')).lines).toMatchObject([
      { msg: 'hello', name: 'test' },
    ])
  })

  test('omits lines below its level', () => {
    expect(linesOf((log) => log.debug('hello')).text).toBe('')
  })
})
