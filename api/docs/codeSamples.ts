import type { DocumentedOperation } from './operations.js'

/** Sample code of one call in one language. */
export type CodeSample = { lang: string; label: string; source: string }

type Method = {
  /** Method of the TypeScript SDK. The Python SDK has it in snake_case. */
  name: string
  /** Body fields that are positional arguments. */
  positional?: string[]
  /** A body field that the name of the method implies. */
  implied?: string
  /** A list. The SDKs iterate over its pages. */
  isList?: true
}

/** SDK methods by operation id. Operations for operators and browsers have none. */
const methods: Record<string, Method> = {
  createWallet: { name: 'wallets.create' },
  listWallets: { name: 'wallets.list', isList: true },
  getWallet: { name: 'wallets.get' },
  getBalances: { name: 'balances.get' },
  getYields: { name: 'yields.list' },
  listYieldHistory: { name: 'yields.history', isList: true },
  createIntent: { name: 'intents.lend', implied: 'action' },
  listIntents: { name: 'intents.list', isList: true },
  getIntent: { name: 'intents.get' },
  cancelIntent: { name: 'intents.cancel' },
  retryIntent: { name: 'intents.retry' },
  createReadToken: { name: 'intents.createReadToken' },
  getPositions: { name: 'positions.get' },
  fundWallet: { name: 'demo.fund', positional: ['walletId'] },
  getFunding: { name: 'demo.get' },
  getCredits: { name: 'credits.get' },
  listEvents: { name: 'events.list', isList: true },
  createWebhook: { name: 'webhooks.create' },
  listWebhooks: { name: 'webhooks.list', isList: true },
  getWebhook: { name: 'webhooks.get' },
  updateWebhook: { name: 'webhooks.update' },
  deleteWebhook: { name: 'webhooks.delete' },
  rotateWebhookSecret: { name: 'webhooks.rotateSecret' },
  testWebhook: { name: 'webhooks.test' },
  listDeliveries: { name: 'webhooks.deliveries', isList: true },
  resendDelivery: { name: 'webhooks.resend' },
}

/** Samples for curl, and for the SDKs where they have a method. */
export function codeSamplesOf(operation: DocumentedOperation): CodeSample[] {
  const method = methods[operation.described.operationId]
  const curl = { lang: 'Shell', label: 'curl', source: toCurl(operation) }
  if (!method) return [curl]
  const call = { method, ...argumentsOf(operation, method) }
  return [
    curl,
    { lang: 'TypeScript', label: 'TypeScript', source: toTypeScript(call) },
    { lang: 'Python', label: 'Python', source: toPython(call) },
  ]
}

/** The first example of its body. */
const bodyOf = ({ bodies }: DocumentedOperation) =>
  bodies[0]?.[1] as Record<string, unknown> | undefined

const exampleOf = ({ parameters }: DocumentedOperation, name: string) =>
  parameters.find((parameter) => parameter.name === name)?.schema?.examples?.[0] ?? ''

function toCurl(operation: DocumentedOperation): string {
  const { method, path, isVersioned } = operation
  const base = isVersioned ? '$STEWARD_BASE_URL' : '${STEWARD_BASE_URL%/v1}'
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => exampleOf(operation, name))
  const body = bodyOf(operation)
  const lines = [
    `curl "${base}${filled}${requiredQuery(operation)}"`,
    `-H "Authorization: Bearer $STEWARD_API_KEY"`,
    ...(method === 'post' ? ['-H "Idempotency-Key: $(uuidgen)"'] : []),
    ...(body ? [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(body)}'`] : []),
    ...(method === 'post' && !body ? ['-X POST'] : []),
  ]
  return lines.join(' \\\n  ')
}

function requiredQuery({ parameters }: DocumentedOperation): string {
  const required = parameters.filter((one) => one.in === 'query' && one.required)
  const pairs = required.map(({ name, schema }) => `${name}=${schema?.const ?? schema?.enum?.[0]}`)
  return pairs.length > 0 ? `?${pairs.join('&')}` : ''
}

type SdkCall = { method: Method; places: unknown[]; fields: Record<string, unknown> }

/** Arguments of the SDK method: `places` by position, `fields` by name. */
function argumentsOf(operation: DocumentedOperation, { positional = [], implied }: Method) {
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const body = bodyOf(operation) ?? {}
  const rest = Object.entries(body).filter(
    ([name]) => name !== implied && !positional.includes(name),
  )
  return {
    places: [
      ...names.map((name) => exampleOf(operation, name)),
      ...positional.map((name) => body[name]),
    ],
    fields: Object.fromEntries(rest),
  }
}

function toTypeScript({ method: { name, isList }, places, fields }: SdkCall): string {
  const named = Object.keys(fields).length > 0 ? [literalOf(fields)] : []
  const call = `steward.${name}(${[...places.map(literalOf), ...named].join(', ')})`
  const use = isList
    ? `for await (const item of ${call}) console.log(item)`
    : `console.log(await ${call})`
  return `import { Steward } from '@steward/sdk'\n\nconst steward = new Steward()\n${use}\n`
}

/** A TypeScript literal: keys without quotes, strings in single quotes. Examples contain no quotes. */
function literalOf(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(literalOf).join(', ')}]`
  const fields = Object.entries(value).map(([name, inner]) => `${name}: ${literalOf(inner)}`)
  return `{ ${fields.join(', ')} }`
}

function toPython({ method: { name, isList }, places, fields }: SdkCall): string {
  const named = Object.entries(fields).map(([key, value]) => `${toSnake(key)}=${pythonOf(value)}`)
  const call = `steward.${toSnake(name)}(${[...places.map(pythonOf), ...named].join(', ')})`
  const use = isList ? `for item in ${call}:\n    print(item)` : `print(${call})`
  return `from steward import Steward\n\nsteward = Steward()\n${use}\n`
}

const toSnake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** A Python literal: JSON with `True`, `False` and `None`. */
const pythonOf = (value: unknown) =>
  JSON.stringify(value).replace(/\b(true|false|null)\b(?=[,}\]]|$)/g, (word) =>
    word === 'null' ? 'None' : `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`,
  )
