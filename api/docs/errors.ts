import { errorCatalog, type ErrorCode } from '../../domain/errors.js'
import {
  explainFailure,
  intentFailureCodes,
  type FailureCode,
} from '../../domain/intent/failures.js'
import { reasonCatalog, reasonsOf, type Reason } from '../../domain/reasons.js'
import { onAnyPath, type Endpoints } from './openapi.js'
import { errorsOf } from './responses.js'

/** Documentation of a code or a reason, as labelled lines. */
type ErrorEntry = { name: string; lines: [label: string, text: string][]; reasons: ErrorEntry[] }
type ErrorChapter = { title: string; text: string; entries: ErrorEntry[] }

const TITLE = 'Errors'
const INTRODUCTION =
  'Every error has the same shape: `error` is its code, `message` describes the problem, `details.docs` links to its section on this page, and `details.requestId` identifies the request. Codes and reasons do not change within `v1`, but new ones may be added.'

/** Chapters of the page, from the catalogs of codes, reasons and failures. */
function chaptersOf(endpoints: Endpoints): ErrorChapter[] {
  const codes = Object.keys(errorCatalog) as ErrorCode[]
  const answered = new Set<ErrorCode>([...answeredBy(endpoints), ...onAnyPath])
  const failed = intentFailureCodes.filter((code) => !answered.has(code))
  const others = codes.filter((code) => !answered.has(code) && !isFailure(code))
  return [
    {
      title: 'Error responses',
      text: 'The body of every response with a status of 400 or above.',
      entries: codes.filter((code) => answered.has(code)).map(toAnswer),
    },
    {
      title: 'Failed intents',
      text: `\`error.code\` of an intent whose \`status\` is \`failed\`. \`error.funds\` states where the money is, with amounts. These codes occur there too: ${intentFailureCodes
        .filter((code) => answered.has(code))
        .map((code) => `\`${code}\``)
        .join(', ')}; see above.`,
      entries: failed.map((code) => ({ name: code, lines: failureLines(code), reasons: [] })),
    },
    {
      title: 'In logs only',
      text: 'Callers never receive these codes. Operators may see them.',
      entries: others.map((name) => ({ name, lines: linesOf(errorCatalog[name]), reasons: [] })),
    },
  ]
}

const answeredBy = ({ versioned, unversioned }: Endpoints) =>
  [...versioned, ...unversioned].flatMap(errorsOf)

const isFailure = (code: ErrorCode): code is FailureCode =>
  intentFailureCodes.some((known) => known === code)

function toAnswer(code: ErrorCode): ErrorEntry {
  const { status, ...facts } = errorCatalog[code]
  return {
    name: code,
    lines: [
      ['HTTP status', String(status)],
      ...linesOf(facts),
      ...(isFailure(code) ? [alsoFailure(code)] : []),
    ],
    reasons: reasonsOf(code).map(toReason),
  }
}

const toReason = (name: Reason): ErrorEntry => ({
  name,
  lines: linesOf(reasonCatalog[name]),
  reasons: [],
})

const linesOf = ({ meaning, hint }: { meaning: string; hint: string }): ErrorEntry['lines'] => [
  ['What happened', meaning],
  ['What to do', hint],
]

/** The line of a code that also ends intents. */
function alsoFailure(code: FailureCode): ErrorEntry['lines'][number] {
  const { money, meaning, hint } = explainFailure(code)
  const text = `${meaning} ${hint} Where the money is: ${money}`
  return ['As `error.code` of a failed intent', text]
}

function failureLines(code: FailureCode): ErrorEntry['lines'] {
  const { money, ...facts } = explainFailure(code)
  return [...linesOf(facts), ['Where the money is', money]]
}

/** The text of `docs/reference/errors.md`. Its headings are the anchors that `details.docs` links to. */
export function createErrorsMarkdown(endpoints: Endpoints): string {
  const chapters = chaptersOf(endpoints).flatMap(({ title, text, entries }) => [
    `## ${title}`,
    text,
    ...entries.flatMap((entry) => toMarkdown(entry, '###')),
  ])
  return `${[`# ${TITLE}`, INTRODUCTION, ...chapters].join('\n\n')}\n`
}

function toMarkdown({ name, lines, reasons }: ErrorEntry, level: string): string[] {
  const list = lines.map(([label, text]) => `- ${label}: ${text}`).join('\n')
  return [`${level} ${name}`, list, ...reasons.flatMap((reason) => toMarkdown(reason, `${level}#`))]
}
