import { errorCatalog, type ErrorCode } from '../../domain/errors.js'
import { explainFailure, intentFailureCodes, type FailureCode } from '../../domain/failures.js'
import { reasonCatalog, reasonsOf, type Reason } from '../../domain/reasons.js'
import { onAnyPath, type Endpoints } from './openapi.js'
import { errorsOf } from './responses.js'

/** A code or a reason: what a reader should know of it, line by line. */
type Entry = { name: string; lines: [label: string, text: string][]; reasons: Entry[] }
type Chapter = { title: string; text: string; entries: Entry[] }

const TITLE = 'Errors'
const INTRODUCTION =
  'Every error has the same shape: `error` is its code, `message` says for a person what is wrong, `details.docs` leads to its place on this page, and `details.requestId` names the request. Codes and reasons do not change within `v1`, but new ones may come.'

/** What the page tells, from the catalogs of codes, reasons and failures. */
function chaptersOf(endpoints: Endpoints): Chapter[] {
  const codes = Object.keys(errorCatalog) as ErrorCode[]
  const answered = new Set<ErrorCode>([...answeredBy(endpoints), ...onAnyPath])
  const failed = intentFailureCodes.filter((code) => !answered.has(code))
  const others = codes.filter((code) => !answered.has(code) && !isFailure(code))
  return [
    {
      title: 'Answers to calls',
      text: 'The body of every answer with a status of 400 or above.',
      entries: codes.filter((code) => answered.has(code)).map(toAnswer),
    },
    {
      title: 'Failed intents',
      text: `\`error.code\` of an intent whose \`status\` is \`failed\`. \`error.funds\` says where the money is, in figures. These codes occur there too: ${intentFailureCodes
        .filter((code) => answered.has(code))
        .map((code) => `\`${code}\``)
        .join(', ')}; see above.`,
      entries: failed.map((code) => ({ name: code, lines: failureLines(code), reasons: [] })),
    },
    {
      title: 'In logs only',
      text: 'Callers do not meet these codes; operators may.',
      entries: others.map((name) => ({ name, lines: linesOf(errorCatalog[name]), reasons: [] })),
    },
  ]
}

const answeredBy = ({ versioned, unversioned }: Endpoints) =>
  [...versioned, ...unversioned].flatMap(errorsOf)

const isFailure = (code: ErrorCode): code is FailureCode =>
  intentFailureCodes.some((known) => known === code)

function toAnswer(code: ErrorCode): Entry {
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

const toReason = (name: Reason): Entry => ({
  name,
  lines: linesOf(reasonCatalog[name]),
  reasons: [],
})

const linesOf = ({ meaning, hint }: { meaning: string; hint: string }): Entry['lines'] => [
  ['What happened', meaning],
  ['What to do', hint],
]

/** A code that answers calls and ends intents. */
function alsoFailure(code: FailureCode): Entry['lines'][number] {
  const { money, meaning, hint } = explainFailure(code)
  const text = `${meaning} ${hint} Where the money is: ${money}`
  return ['As `error.code` of a failed intent', text]
}

function failureLines(code: FailureCode): Entry['lines'] {
  const { money, ...facts } = explainFailure(code)
  return [...linesOf(facts), ['Where the money is', money]]
}

/** `docs/errors.md`. Its headings are the anchors that `details.docs` of an error leads to. */
export function createErrorsMarkdown(endpoints: Endpoints): string {
  const chapters = chaptersOf(endpoints).flatMap(({ title, text, entries }) => [
    `## ${title}`,
    text,
    ...entries.flatMap((entry) => toMarkdown(entry, '###')),
  ])
  return `${[`# ${TITLE}`, INTRODUCTION, ...chapters].join('\n\n')}\n`
}

function toMarkdown({ name, lines, reasons }: Entry, level: string): string[] {
  const list = lines.map(([label, text]) => `- ${label}: ${text}`).join('\n')
  return [`${level} ${name}`, list, ...reasons.flatMap((reason) => toMarkdown(reason, `${level}#`))]
}
