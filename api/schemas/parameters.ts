import { z } from 'zod'
import { chainFacts, chainNames, type ChainName } from '../../evm/registry.js'
import { intentFailureCodes } from '../../domain/intent/failures.js'
import { statuses } from '../../domain/intent/intent.js'
import { safeText } from './safeText.js'
import { fundingAnswer, walletAnswer } from './examples/resources.js'
import { plannedIntent } from './examples/plannedIntent.js'
import { intentAction } from './intents.js'

/** Identifiers in requests. The format is not checked: an unknown id is not found. */
export const walletIdInput = safeText(64).meta({
  description: 'Id of a wallet, as `POST /wallets` returned it.',
  examples: [walletAnswer.id],
})

export const intentIdInput = safeText(64).meta({
  description: 'Id of an intent, as `POST /intents` returned it.',
  examples: [plannedIntent.id],
})

export const fundingIdInput = safeText(64).meta({
  description: 'Id of a funding, as `POST /demo/fund` returned it.',
  examples: [fundingAnswer.id],
})

/** The rule of a field with known values: the end of a sentence. */
function oneOf(names: readonly string[]): string {
  return `must be ${names.map((name) => `\`${name}\``).join(' or ')}`
}

/**
 * A known name, in any case.
 *
 * @param aliases - Other names, in lower case, with the names that they stand for.
 */
export function knownName<Name extends string>(
  names: readonly Name[],
  aliases: Record<string, Name> = {},
) {
  const known = new Map(Object.entries(aliases))
  for (const name of names) known.set(name.toLowerCase(), name)
  return z.string().transform((typed, context): Name => {
    const name = known.get(typed.toLowerCase())
    if (name !== undefined) return name
    context.addIssue({ code: 'custom', message: oneOf(names) })
    return z.NEVER
  })
}

/** One known name, several separated by commas, or the parameter several times. */
export function knownNames<Name extends string>(names: readonly Name[]) {
  const isKnown = (value: unknown): value is Name => names.some((one) => one === value)
  return z.unknown().transform((value, context): Name[] => {
    const given: unknown[] = [value].flat()
    const parts = given.flatMap((part) => (typeof part === 'string' ? part.split(',') : [part]))
    const known = parts.filter(isKnown)
    if (known.length < parts.length) context.addIssue({ code: 'custom', message: oneOf(names) })
    return [...new Set(known)]
  })
}

const chainAliases = Object.fromEntries(chainNames.map((name) => [chainFacts[name].alias, name]))

/** The canonical name of a chain, from its name or its alias. */
export const chainInput = knownName<ChainName>(chainNames, chainAliases)
export const chainInputNames = [...chainNames, ...Object.keys(chainAliases)]

const DOTS = /^\.\.?$/

/** Clients and proxies remove `.` and `..` from paths, so the wallet of such a user could not be read. */
export const userIdInput = safeText(128)
  .refine((text) => !DOTS.test(text), 'must not be `.` or `..`')
  .meta({
    description:
      'Your own identifier for the end user, without control characters and U+FFFD, and not blank, `.` or `..`. One user has one wallet.',
    examples: [walletAnswer.userId],
  })

const statusList = knownNames(statuses)
  .optional()
  .meta({
    description:
      'Only intents with this status, or with one of several: `status=failed,completed`, or the parameter several times.',
    override: { type: 'array', items: { type: 'string', enum: [...statuses] }, minItems: 1 },
  })

/** An optional time in a query. */
const moment = (description: string) =>
  z.iso
    .datetime({ offset: true, error: 'must be a time such as `2026-11-21T04:36:02Z`' })
    .transform((text) => new Date(text))
    .optional()
    .meta({
      description: `${description} ISO 8601, with its zone.`,
      override: { type: 'string', format: 'date-time' },
    })

export const readTokenInput = safeText(64).optional().meta({
  description:
    'A token of `POST /intents/{intentId}/read-token`, for browsers that cannot send `Authorization`.',
})

/** Filters of lists of intents. */
export const intentFilterQuery = {
  walletId: safeText(64).optional().meta({ description: 'Only intents of this wallet.' }),
  userId: safeText(128).optional().meta({
    description: 'Only intents of the wallet of this user, by your own identifier.',
  }),
  status: statusList,
  action: intentAction.optional().meta({ description: 'Only intents with this action.' }),
  errorCode: z
    .enum(intentFailureCodes)
    .optional()
    .meta({
      description: 'Only failed intents with this `error.code`.',
      examples: ['DEPOSIT_FAILED'],
    }),
  createdAfter: moment('Only intents created after this time.'),
  createdBefore: moment('Only intents created before this time.'),
}

type IntentFilterQuery = z.infer<z.ZodObject<typeof intentFilterQuery>>

/** The filter of a query. Undefined fields do not filter. */
export const toIntentFilter = (query: IntentFilterQuery) => ({
  walletId: query.walletId,
  userId: query.userId,
  errorCode: query.errorCode,
  statuses: query.status,
  action: query.action,
  createdAfter: query.createdAfter,
  createdBefore: query.createdBefore,
})

/** Of calls that create an intent. */
export const dryRunQuery = z.strictObject({
  dryRun: z
    .enum(['true', 'false'])
    .default('false')
    .meta({
      description: 'Return the plan only. Nothing is stored, started or charged.',
      override: { type: 'boolean', default: false },
    }),
})

const MAX_WAIT_S = 60
const WAIT_RULE = `must be a whole number of seconds from 0 to ${MAX_WAIT_S}`

/** Seconds that an answer may wait, 0 when absent. */
export const secondsToWait = (description: string) =>
  z
    .string()
    .refine((digits) => /^\d{1,2}$/.test(digits) && Number(digits) <= MAX_WAIT_S, WAIT_RULE)
    .transform(Number)
    .default(0)
    .meta({
      description,
      examples: [30],
      override: { type: 'integer', minimum: 0, maximum: MAX_WAIT_S, default: 0, examples: [30] },
    })
