import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { startWorld, type ApiWorld } from './api.js'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const SCRIPT = 'export const answer = 42\n'.repeat(40)

let folder: string
let built: ApiWorld
let unbuilt: ApiWorld

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'steward pages '))
  mkdirSync(path.join(folder, 'assets'))
  writeFileSync(path.join(folder, 'index.html'), '<!doctype html><title>Pages</title>')
  writeFileSync(path.join(folder, 'theme.js'), '// theme\n')
  writeFileSync(path.join(folder, '.built'), 'digest')
  writeFileSync(path.join(folder, 'assets', 'index-abc.js'), SCRIPT)
  writeFileSync(path.join(folder, 'assets', 'index-abc.js.gz'), gzipSync(SCRIPT))
  built = await startWorld(undefined, { dashboardFolder: folder })
  unbuilt = await startWorld(undefined, { dashboardFolder: path.join(folder, 'none') })
})

afterAll(async () => {
  await built.stop()
  await unbuilt.stop()
  rmSync(folder, { recursive: true, force: true })
})

const get = (place: string, headers: Record<string, string> = {}, world = built) =>
  fetch(world.api.url + place, { headers, redirect: 'manual' })

/** The bytes as they are sent: `fetch` normalizes paths and unpacks bodies. */
const getRaw = (place: string, headers: Record<string, string> = {}) =>
  new Promise<{ status: number; encoding: string | undefined; body: string }>((resolve, reject) => {
    request({ port: built.api.port, path: place, headers }, (response) => {
      let body = ''
      response.on('data', (chunk: Buffer) => (body += chunk.toString('latin1')))
      response.on('end', () => {
        const { statusCode: status = 0, headers: answered } = response
        resolve({ status, encoding: answered['content-encoding'], body })
      })
    })
      .on('error', reject)
      .end()
  })

describe('GET /dashboard', () => {
  test.each(['/dashboard', '/dashboard/', '/dashboard/intents', '/dashboard/intents/intent_1'])(
    '%s is the page, revalidated each time, and connects to this origin only',
    async (place) => {
      const response = await get(place, { accept: BROWSER })
      expect(response.status).toBe(200)
      expect(await response.text()).toContain('<title>Pages</title>')
      expect(response.headers.get('cache-control')).toBe('no-cache')
      expect(response.headers.get('vary')).toContain('Accept')
      const policy = response.headers.get('content-security-policy')
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("script-src 'self'")
      expect(policy).not.toContain('unsafe')
    },
  )

  test('without a build: a page with the build command', async () => {
    const response = await get('/dashboard/intents', { accept: BROWSER }, unbuilt)
    expect(response.status).toBe(503)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await response.text()).toContain('npm run build:web')
  })
})

describe('GET /dashboard/credits', () => {
  test('is JSON for an API key, with every Accept header', async () => {
    const key = await built.newKey()
    for (const accept of ['*/*', 'application/json', BROWSER]) {
      const response = await get('/dashboard/credits', { accept, authorization: `Bearer ${key}` })
      expect(response.status).toBe(200)
      expect(await response.json()).toMatchObject({ plan: 'pro' })
    }
  })

  test('is the page for a browser, and 401 for a program without a key', async () => {
    const page = await get('/dashboard/credits', { accept: BROWSER })
    expect(page.headers.get('content-type')).toContain('text/html')
    const refused = await get('/dashboard/credits', { accept: '*/*' })
    expect(refused.status).toBe(401)
    expect(await refused.json()).toMatchObject({ error: 'UNAUTHORIZED' })
  })
})

describe('files of the dashboard', () => {
  test('an asset is cached permanently, compressed for clients that accept it', async () => {
    const packed = await getRaw('/dashboard/assets/index-abc.js', { 'accept-encoding': 'gzip' })
    expect(packed).toMatchObject({ status: 200, encoding: 'gzip' })
    expect(packed.body.length).toBeLessThan(SCRIPT.length)
    const plain = await getRaw('/dashboard/assets/index-abc.js')
    expect(plain).toEqual({ status: 200, encoding: undefined, body: SCRIPT })
    const response = await get('/dashboard/assets/index-abc.js')
    expect(await response.text()).toBe(SCRIPT)
    expect(response.headers.get('cache-control')).toContain('immutable')
    expect(response.headers.get('content-type')).toMatch(/javascript/)
  })

  test('files without a hash in their name are revalidated', async () => {
    const response = await get('/dashboard/theme.js')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    const since = response.headers.get('last-modified') ?? ''
    const again = await getRaw('/dashboard/theme.js', { 'if-modified-since': since })
    expect(again.status).toBe(304)
  })

  test.each([
    '/dashboard/assets/gone-abc.js',
    '/dashboard/assets/..%2f.built',
    '/dashboard/assets/..%2findex.html',
    '/dashboard/assets/%2e%2e%2f%2e%2e%2fpackage.json',
  ])('%s is not found', async (place) => {
    expect((await getRaw(place)).status).toBe(404)
  })

  test.each([
    '/dashboard/.built',
    '/dashboard/..%2fpackage.json',
    '/dashboard/%2e%2e/package.json',
  ])('%s is not a file either', async (place) => {
    const { status, body } = await getRaw(place)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(body).not.toContain('digest')
  })
})

describe('the pages and the API beside them', () => {
  test('GET / redirects a browser to the dashboard, and no program', async () => {
    const led = await get('/', { accept: BROWSER })
    expect(led.status).toBe(302)
    expect(led.headers.get('location')).toBe('/dashboard')
    expect(await (await get('/')).json()).toMatchObject({ name: 'Steward' })
  })

  test('paths below /dashboard/api are never pages', async () => {
    const response = await get('/dashboard/api/session', { accept: BROWSER })
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({ error: 'UNAUTHORIZED' })
  })
})
