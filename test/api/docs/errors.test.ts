import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createErrorsMarkdown } from '../../../api/docs/errors.js'
import { endpoints } from '../../../api/routes.js'
import { nameOf } from '../../../api/schemas/errors.js'
import { errorCatalog } from '../../../domain/errors.js'
import { explainFailure, intentFailureCodes } from '../../../domain/intent/failures.js'
import { reasonCatalog, reasonsOf } from '../../../domain/reasons.js'
import { document } from '../../support/openapi.js'
import { startWorld, type ApiWorld } from '../api.js'

let world: ApiWorld
let page: string

beforeAll(async () => {
  world = await startWorld()
  page = await (await get('/docs/errors')).text()
})
afterAll(() => world?.stop())

const get = (path: string, headers = {}) => fetch(world.api.url + path, { headers })
const markdown = createErrorsMarkdown(endpoints)

describe('GET /docs/errors', () => {
  test.each([...Object.keys(errorCatalog), ...Object.keys(reasonCatalog)])(
    'has one anchor for %s, and a heading in docs/reference/errors.md',
    (name) => {
      expect(page.split(`id="${name}"`)).toHaveLength(2)
      expect(markdown.split('\n').filter((line) => /^#{3,4} /.test(line))).toContainEqual(
        expect.stringMatching(new RegExp(`^#+ ${name}$`)),
      )
    },
  )

  test('documents for each failure of an intent where the money is', () => {
    for (const code of intentFailureCodes) {
      expect(markdown).toContain(`here the money is: ${explainFailure(code).money}`)
    }
  })

  test('docs/reference/errors.md is what the catalogs say: run `npm run openapi` otherwise', async () => {
    const file = new URL('../../../docs/reference/errors.md', import.meta.url)
    expect(await readFile(file, 'utf8')).toBe(markdown)
  })
})

describe('the document', () => {
  const schemas = document.components?.schemas as Record<string, { enum?: string[] }>

  test.each(['INVALID_REQUEST', 'INSUFFICIENT_FUNDS', 'UNAVAILABLE'] as const)(
    'lists the reasons of %s',
    (code) => {
      expect(schemas[`${nameOf(code)}Reason`]?.enum).toEqual(reasonsOf(code))
    },
  )

  test('lists the codes of failed intents', () => {
    expect(schemas.IntentFailureCode?.enum).toEqual(intentFailureCodes)
  })
})

describe('GET /', () => {
  const links = {
    ...{ quickstart: '/docs/quickstart', docs: '/docs', api: '/docs/api' },
    ...{ openapi: '/openapi.json', llms: '/llms.txt' },
    ...{ postman: '/postman.json', errors: '/docs/errors', health: '/healthz' },
  }

  test('returns JSON with links', async () => {
    const response = await get('/')
    expect(await response.json()).toEqual({ name: 'Steward', ...links })
    expect(response.headers.get('vary')).toBe('Accept')
    for (const path of Object.values(links)) expect((await get(path)).status).toBe(200)
  })
})
