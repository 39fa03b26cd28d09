import { formatEther } from 'ethers'
import { z } from 'zod'
import { chainNames, variableSuffix } from '../../evm/registry.js'
import { chainSettings, schemas } from '../../runtime/settings.js'

const processes = ['api', 'worker', 'relayer', 'signer'] as const
type Process = (typeof processes)[number]

const INTRODUCTION = `# Configuration

Settings are environment variables. Each process reads its own, checks all of them at its start, and reports every problem at once. An empty variable counts as not set. \`npm run reference\` generates this page from the schemas in \`runtime/settings.ts\`.`

const OTHERS = `## Operator commands

\`npm run doctor\` and \`npm run audit\` read the settings of the processes. For the doctor, \`DATABASE_URL\` is optional. \`TEMPORAL_ADDRESS\` is \`127.0.0.1:7233\` by default. Without any of them, the commands use a running \`npm start\`.

\`npm run migrate\` reads \`NETWORK\`, the \`DATABASE_URL\` of the owner, and the passwords of the database roles: \`STEWARD_API_PASSWORD\`, \`STEWARD_WORKER_PASSWORD\`, \`STEWARD_RELAYER_PASSWORD\` and \`STEWARD_SIGNER_PASSWORD\`. Set all four passwords, or none to leave them unchanged.

## npm start

[.env.example](../../.env.example) lists the settings of \`npm start\`. All are optional.`

type SettingRow = {
  name: string
  readers: Process[]
  preset: string
  values: string
  meaning: string
}

/** `docs/reference/configuration.md`: every setting of the processes, with its readers, default and meaning. */
export function createConfigurationPage(): string {
  const parts = [
    INTRODUCTION,
    '## Processes',
    toTable(ownRows()),
    '## Chains',
    toTable(chainRows()),
    OTHERS,
  ]
  return `${parts.join('\n\n')}\n`
}

function ownRows(): SettingRow[] {
  const rows = new Map<string, SettingRow>()
  for (const process of processes) {
    for (const [name, schema] of Object.entries<z.ZodType>(schemas[process].shape)) {
      const row = rows.get(name)
      if (row) row.readers.push(process)
      else rows.set(name, { ...describe(name, schema), readers: [process] })
    }
  }
  return [...rows.values()]
}

function chainRows(): SettingRow[] {
  return chainSettings.flatMap(({ prefix, readers, schema, presets }) =>
    chainNames.map((chain) => ({
      ...describe(`${prefix}_${variableSuffix(chain)}`, schema),
      ...(presets && { preset: `\`${presets[chain]}\`` }),
      readers: [...readers],
    })),
  )
}

const describe = (name: string, schema: z.ZodType): Omit<SettingRow, 'readers'> => ({
  name,
  preset: presetOf(schema),
  values: valuesOf(schema),
  meaning: schema.description ?? '',
})

function presetOf(schema: z.ZodType): string {
  const { success, data } = schema.safeParse(undefined)
  if (!success) return '**required**'
  if (data === undefined) return ''
  const text = typeof data === 'bigint' ? formatEther(data) : z.coerce.string().parse(data)
  return `\`${text}\``
}

/** Choices and bounds, where the schema has some. */
function valuesOf(schema: z.ZodType): string {
  const {
    enum: choices,
    minimum,
    maximum,
  } = z.toJSONSchema(schema, {
    unrepresentable: 'any',
    io: 'output',
  })
  if (choices) return choices.map((choice) => `\`${String(choice)}\``).join(', ')
  return minimum === undefined ? '' : `${minimum} to ${maximum}`
}

function toTable(rows: SettingRow[]): string {
  const lines = rows.map(({ name, readers, preset, values, meaning }) =>
    [`\`${name}\``, readerText(readers), preset, values, meaning].join(' | '),
  )
  const head = ['Setting', 'Read by', 'Default', 'Values', 'Meaning']
  return [head.join(' | '), head.map(() => '---').join(' | '), ...lines]
    .map((line) => `| ${line} |`)
    .join('\n')
}

const readerText = (readers: Process[]) =>
  readers.length === processes.length ? 'all' : readers.join(', ')
