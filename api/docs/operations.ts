export type Parameter = {
  name: string
  in: string
  required?: boolean
  description?: string
  schema?: { examples?: string[]; enum?: string[]; const?: string }
}

/** What the document says of an operation, as far as one needs it to make a call. */
type Described = {
  operationId: string
  summary: string
  description: string
  tags: [string]
  parameters?: (Parameter | { $ref: string })[]
  'x-codeSamples'?: { lang: string; label: string; source: string }[]
  requestBody?: { content: Record<string, { examples?: Record<string, { value: unknown }> }> }
}

export type Operation = {
  method: 'get' | 'post'
  /** Below its base, with parameters in braces. */
  path: string
  /** Whether it stands below `/v1`. */
  isVersioned: boolean
  described: Described
  parameters: Parameter[]
  /** Examples of its body by their names; none where it takes no body. */
  bodies: [name: string, value: unknown][]
}

/** The parts of an OpenAPI document that are read here. */
type Document = {
  paths?: Record<string, object>
  components?: { parameters?: object }
}
type Item = Partial<Record<'get' | 'post', Described>> & { servers?: unknown }

/** The operations of a document in its order; what creates a thing comes before what reads it. */
export function readOperations({ paths = {}, components }: Document): Operation[] {
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
        ([name, { value }]): Operation['bodies'][number] => [name, value],
      )
      const isVersioned = item.servers === undefined
      return [{ method, path, isVersioned, described, parameters: parameters.map(resolve), bodies }]
    }),
  )
}
