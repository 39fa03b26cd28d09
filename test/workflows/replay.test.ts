import { describe, expect, test } from '@jest/globals'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js'
import { Worker } from '@temporalio/worker'
// Sets how much the SDK tells.
import '../support/temporal/temporal.js'
import { workflowBundle } from '../support/temporal/workflowBundle.js'

const folder = fileURLToPath(new URL('histories', import.meta.url))
/** @param change - Makes another history of its text. */
const readHistory = (name: string, change = (text: string) => text) =>
  historyFromJSON(JSON.parse(change(readFileSync(join(folder, name), 'utf8'))))
const replay = (history: ReturnType<typeof readHistory>) =>
  Worker.runReplayHistory({ workflowBundle: workflowBundle() }, history)

/** Recorded from servers by versions before this one: what is under way when this one is installed goes on. */
describe('histories of earlier versions', () => {
  test.each(readdirSync(folder))('%s is replayed by this one', async (name) => {
    await expect(replay(readHistory(name))).resolves.toBeUndefined()
  })

  test('one that this version cannot have made is refused', async () => {
    const renamed = (text: string) => text.replaceAll('"deposit"', '"pay"')
    await expect(replay(readHistory('lent.json', renamed))).rejects.toThrow()
  })
})
