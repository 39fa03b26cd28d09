import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { Steward } from '@steward/sdk'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { findPages } from '../../dev/tools/sampleBlocks.js'
import { run, startProgram } from '../clients/examples/programs.js'
import { joinWorld, type E2eWorld } from '../e2e/world.js'
import { readCodeBlocks } from '../../dev/tools/codeBlocks.js'
import { runShellBlocks } from './codeBlocks.js'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 600_000 })

const read = (file: string) => fs.readFileSync(file, 'utf8')
const ofLanguage = (file: string, language: string) =>
  readCodeBlocks(read(file)).filter((block) => block.language === language)

/** `bash` blocks are not run: pages.test.ts checks what they call. */
const pages = (await findPages('.'))
  .filter((file) => file.startsWith('docs/'))
  .filter((file) => ofLanguage(file, 'sh').length > 0)

/** Folders of this test, each a checkout next to a running `npm start`. */
const folders: string[] = []
const worlds: E2eWorld[] = []

beforeAll(async () => {
  // The stack is started here, not in the time of a test.
  worlds.push(await joinWorld())
})
afterAll(async () => {
  for (const world of worlds) await world.stop()
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true })
})

/** A folder with the files of the repository, and the facts of the stack in `.steward/dev.json`. */
async function openCheckout() {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'steward-docs-'))
  folders.push(folder)
  for (const name of fs.readdirSync('.').filter((entry) => entry !== '.steward')) {
    fs.symlinkSync(path.resolve(name), path.join(folder, name))
  }
  const world = await joinWorld()
  worlds.push(world)
  const { facts, home } = world.stack
  fs.mkdirSync(path.join(folder, '.steward'))
  fs.writeFileSync(path.join(folder, '.steward', 'dev.json'), JSON.stringify(facts))
  const env = { STEWARD_API_KEY: facts.apiKey, STEWARD_BASE_URL: facts.apiBaseUrl }
  return { folder, env: { ...env, STEWARD_HOME: home } }
}

describe.concurrent('shell blocks, as a reader pastes them:', () => {
  test.each(pages)('%s', async (page) => {
    const blocks = ofLanguage(page, 'sh')
    const outputs = await runShellBlocks(blocks, await openCheckout())
    expect(outputs).toHaveLength(blocks.length)
  })
})

test('the browser code of docs/guides/streaming.md ends with the intent', async () => {
  const world = await joinWorld()
  worlds.push(world)
  const { apiBaseUrl, apiKey } = world.stack.facts
  const steward = new Steward({ apiKey, baseUrl: apiBaseUrl })
  const { id: walletId } = await steward.wallets.create({ userId: 'dora' })
  await steward.demo.waitForCompletion((await steward.demo.fund(walletId)).id)
  const { id: intentId } = await steward.intents.lend({ walletId, amount: '1' })
  const { token } = await steward.intents.createReadToken(intentId)
  const [block] = ofLanguage('docs/guides/streaming.md', 'js')
  const given = JSON.stringify({ baseUrl: apiBaseUrl, intentId, token })
  const code = `const { baseUrl, intentId, token } = ${given}\n${block?.code}`
  // The program ends when the code has closed the stream.
  await run(process.execPath, { args: ['--experimental-eventsource', '--eval', code], env: {} })
  expect((await steward.intents.get(intentId)).status).toBe('completed')
})

describe('the receiver of docs/guides/webhooks.md', () => {
  const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
  const url = 'http://127.0.0.1:8787/hooks'
  const body = JSON.stringify({ type: 'intent.completed', intentId: 'intent_0' })
  const at = new Date()
  const signature = new Webhook(secret).sign('evt_1', at, body)
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': signature,
  }
  const post = (text: string) => fetch(url, { method: 'POST', body: text, headers })

  test('accepts a signed request and rejects a changed one', async () => {
    const [block] = ofLanguage('docs/guides/webhooks.md', 'js')
    const args = ['--input-type=module', '--eval', block?.code ?? '']
    const program = startProgram(process.execPath, {
      args,
      env: { STEWARD_WEBHOOK_SECRET: secret },
    })
    try {
      const accepted = await vi.waitUntil(() => post(body).catch(() => sleep(50)), {
        timeout: 30_000,
      })
      expect(accepted?.status).toBe(204)
      expect((await post(`${body} `)).status).toBe(400)
      expect(program.output()).toContain('intent.completed intent_0')
    } finally {
      await program.kill('SIGTERM')
    }
  })
})
