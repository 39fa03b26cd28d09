import type { createPostmanCollection } from '../../../api/docs/postman.js'

type Collection = ReturnType<typeof createPostmanCollection>
type PostmanRequest = Collection['item'][number]['item'][number]['request'] & {
  body?: { raw: string }
}
type PostmanAnswer = { status: number; body: Record<string, unknown> }

const SEND_MS = 90_000

/** Sends requests of a collection as Postman does: it fills variables, and runs the script of the collection. */
export function createPostmanRunner(collection: Collection, given: Record<string, string>) {
  const variables = new Map<string, string>()
  for (const { key, value } of collection.variable) variables.set(key, value || `${key}_0`)
  for (const [key, value] of Object.entries(given)) variables.set(key, value)

  /** Variables may stand in variables. */
  function fill(text: string): string {
    const filled = text.replace(/\{\{([$\w]+)\}\}/g, (_all, name: string) => {
      const value = name === '$guid' ? crypto.randomUUID() : variables.get(name)
      if (value === undefined) throw new Error(`The collection has no variable ${name}.`)
      return value
    })
    return filled === text ? text : fill(filled)
  }

  function toUrl({ url }: PostmanRequest): string {
    const values = new Map(url.variable.map(({ key, value }) => [`:${key}`, value]))
    const parts = url.path.map((part) => encodeURIComponent(fill(values.get(part) ?? part)))
    const search = new URLSearchParams()
    for (const { key, value, disabled } of url.query) if (!disabled) search.set(key, fill(value))
    return `${fill(url.host[0] ?? '')}/${parts.join('/')}?${search.toString()}`
  }

  function runScript({ status, headers }: Response, body: unknown): void {
    const pm = {
      response: { code: status, headers, json: () => body },
      collectionVariables: { set: (key: string, value: string) => variables.set(key, value) },
    }
    const exec = collection.event.flatMap(({ script }) => script.exec)
    // eslint-disable-next-line @typescript-eslint/no-implied-eval -- what is tested
    const script = new Function('pm', exec.join('\n')) as (given: object) => void
    script(pm)
  }

  return {
    variables,
    async send(request: PostmanRequest): Promise<PostmanAnswer> {
      const { method, header, body: sent } = request
      const [auth] = collection.auth.bearer
      const response = await fetch(toUrl(request), {
        method,
        headers: {
          authorization: `Bearer ${fill(auth?.value ?? '')}`,
          ...Object.fromEntries(header.map(({ key, value }) => [key, fill(value)])),
          ...(sent ? { 'content-type': 'application/json' } : {}),
        },
        ...(sent ? { body: fill(sent.raw) } : {}),
        signal: AbortSignal.timeout(SEND_MS),
      })
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
      if (isStream) await response.body?.cancel()
      const body = isStream ? {} : ((await response.json()) as Record<string, unknown>)
      runScript(response, body)
      return { status: response.status, body }
    },
  }
}
