import { expect } from 'vitest'
import { createOpenApi } from '../../api/docs/openapi.js'
import { errorsOf, errorUnion } from '../../api/docs/responses.js'
import { endpoints } from '../../api/routes.js'
import { errorCatalog, type ErrorCode } from '../../domain/errors.js'
import type { Route } from '../../api/http/route.js'

export const document = createOpenApi(endpoints)

/** Every documented endpoint with its full path in Express syntax. */
export const documented = [
  ...endpoints.versioned.map((route) => ({ route, path: `/v1${route.spec.path}` })),
  ...endpoints.unversioned.map((route) => ({ route, path: route.spec.path })),
]

/** Possible responses to a path or a method without an endpoint. */
const elsewhere: ErrorCode[] = [
  ...(['INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND'] as const),
  'METHOD_NOT_ALLOWED',
  ...(['RATE_LIMITED', 'INTERNAL', 'UNAVAILABLE'] as const),
]

const everywhere = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
]
const byStatus: Record<number, string[]> = {
  200: ['X-Credits-Charged'],
  201: ['X-Credits-Charged'],
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

/** Throws when a response of `/v1` or `/dashboard` differs from the document. */
export function expectDocumented(
  method: string,
  path: string,
  status: number,
  headers: Headers,
  body: unknown,
): void {
  const where = `${method} ${path} answered ${status}`
  const route = findRoute(method, path)
  const schema = route ? schemaOf(route, status) : errorUnion(codesAt(elsewhere, status))
  if (!schema) throw new Error(`${where}, which is not documented.`)
  const { error } = schema.safeParse(body)
  if (error) throw new Error(`${where} with a body that is not documented: ${error.message}`)
  for (const name of [...everywhere, ...(byStatus[status] ?? [])]) {
    if (headers.get(name) === null) throw new Error(`${where} without the header ${name}.`)
  }
  expect(headers.get('content-type')).toMatch(/^application\/json/)
}

/** Throws when the page that an error links to does not explain it. */
export async function expectExplained(
  url: string,
  { error, details }: { error?: unknown; details: Record<string, unknown> },
): Promise<void> {
  const { docs, reason } = details
  expect(docs).toBe(`/docs/errors#${String(reason ?? error)}`)
  const page = pages.get(url) ?? fetch(url + String(docs)).then((response) => response.text())
  pages.set(url, page)
  expect(await page).toContain(`id="${String(docs).split('#')[1]}"`)
}

const pages = new Map<string, Promise<string>>()

function schemaOf(route: Route, status: number) {
  if (status === 200 || status === 201) return route.spec.docs.responses[status]?.schema
  const codes = codesAt(errorsOf(route), status)
  return codes.length === 0 ? undefined : errorUnion(codes)
}

const codesAt = (codes: ErrorCode[], status: number) =>
  codes.filter((code) => errorCatalog[code].status === status)

function findRoute(method: string, path: string): Route | undefined {
  const [pathname = ''] = path.split('?')
  const found = documented.filter(({ route, path: pattern }) => {
    const matcher = new RegExp(`^${pattern.replace(/:\w+/g, '[^/]+')}/?$`, 'i')
    return route.method.toUpperCase() === method && matcher.test(pathname)
  })
  return found[0]?.route
}
