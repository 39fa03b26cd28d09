import { setTimeout as sleep } from 'node:timers/promises'
import { pageOpen, readKnown } from './rows/rows.js'
import { PAGE, pagesOf } from './pages.js'
import type { Difference } from './difference.js'
import { SETTLED_AFTER_MS, type AuditTools, type Workflows } from './tools.js'

/** Checks that each open intent and funding has a running workflow, and vice versa. */
export async function* auditWorkflows(tools: AuditTools): AsyncGenerator<Difference> {
  const { workflows, progress } = tools
  if (!workflows) return
  progress('workflows')
  yield* findWithoutWorkflow(tools, workflows)
  yield* findIdle(tools, workflows)
}

async function* findWithoutWorkflow({ db, againMs }: AuditTools, { findRunning }: Workflows) {
  const read = (page: { after: string; limit: number }) => pageOpen(db, SETTLED_AFTER_MS, page)
  for await (const page of pagesOf(read, ({ id }) => id)) {
    const running = await findRunning(page.map(({ id }) => id))
    const suspects = page.filter(({ id }) => !running.has(id))
    if (suspects.length === 0) continue
    await sleep(againMs)
    const ids = suspects.map(({ id }) => id)
    const known = await readKnown(db, ids)
    const now = await findRunning(ids)
    for (const { id, status } of suspects) {
      if (now.has(id) || !known.some((one) => one.id === id && one.open)) continue
      yield withoutWorkflow(id, status)
    }
  }
}

function withoutWorkflow(id: string, status: string): Difference {
  const chain = 'no running workflow'
  const remedy = 'The sweeper restarts it. The new run reads its progress from the rows.'
  const facts = { check: 'workflows', row: status, chain, remedy } as const
  if (id.startsWith('fund_')) return { ...facts, about: `funding ${id}` }
  return { ...facts, about: `intent ${id}`, repair: { type: 'restart', intentId: id } }
}

async function* findIdle({ db, againMs }: AuditTools, workflows: Workflows) {
  let page: string[] = []
  for await (const id of workflows.listRunning()) {
    page.push(id)
    if (page.length < PAGE) continue
    yield* judgeIdle(db, workflows, { ids: page, againMs })
    page = []
  }
  if (page.length > 0) yield* judgeIdle(db, workflows, { ids: page, againMs })
}

async function* judgeIdle(
  db: AuditTools['db'],
  { findRunning }: Workflows,
  { ids, againMs }: { ids: string[]; againMs: number },
): AsyncGenerator<Difference> {
  const read = async (some: string[]) => {
    const known = new Map((await readKnown(db, some)).map(({ id, open }) => [id, open]))
    return some.filter((id) => known.get(id) !== true).map((id) => [id, known.has(id)] as const)
  }
  const idle = await read(ids)
  if (idle.length === 0) return
  await sleep(againMs)
  const running = await findRunning(idle.map(([id]) => id))
  for (const [id, isKnown] of await read(idle.map(([id]) => id))) {
    if (!running.has(id)) continue
    const row = isKnown ? 'finished' : 'missing'
    const remedy = isKnown
      ? 'No action. The workflow ends without help.'
      : 'Its row is lost with a backup. Terminate it after checking that no chain has its operations.'
    const about = `workflow ${id}`
    yield { check: 'workflows', about, row, chain: 'its workflow is running', remedy }
  }
}
