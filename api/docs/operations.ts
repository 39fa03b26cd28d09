export type Parameter = {
  name: string
  in: string
  required?: boolean
  description?: string
  schema?: { examples?: string[]; enum?: string[]; const?: string }
}

/** An operation of the document, with the fields that a call needs. */
type Described = {
  operationId: string
  summary: string
  description: string
  tags: [string]
  parameters?: (Parameter | { $ref: string })[]
  'x-codeSamples'?: { lang: string; label: string; source: string }[]
  requestBody?: { content: Record<string, { examples?: Record<string, { value: unknown }> }> }
}

export type DocumentedOperation = {
  method: 'get' | 'post'
  /** Relative to its base, with parameters in braces. */
  path: string
  /** True below `/v1`. */
  isVersioned: boolean
  described: Described
  parameters: Parameter[]
  /** Example bodies by name. Empty without a body. */
  bodies: [name: string, value: unknown][]
}

/** Fields of an OpenAPI document that are read here. */
type Document = {
  paths?: Record<string, object>
  components?: { parameters?: object }
}
type Item = Partial<Record<'get' | 'post', Described>> & { servers?: unknown }

/** Operations in the order of the document. POST comes before GET of the same path. */
export function readOperations({ paths = {}, components }: Document): DocumentedOperation[] {
  const shared = (components?.parameters ?? {}) as Record<string, Parameter>
  const resolve = (given: Parameter | { $ref: string }) =>
    '$ref' in given ? (shared[given.$ref.split('/').at(-1) ?? ''] as Parameter) : given
  return Object.entries(paths as Record<string, Item>).flatMap(([path, item]) =>
    (['post', 'get'] as const).flatMap((method) => {
      const described = item[method]
      if (!described) return []
      const { parameters = [], requestBody } = described
      const examples = requestBody?.content['application/json']?.examples ?? {}
      const bodies = Object.entries(examples).map(
        ([name, { value }]): DocumentedOperation['bodies'][number] => [name, value],
      )
      const isVersioned = item.servers === undefined
      return [{ method, path, isVersioned, described, parameters: parameters.map(resolve), bodies }]
    }),
  )
}
