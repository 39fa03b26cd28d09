import type pg from 'pg'

/** A text that comes so often is one of those that come again and again. */
const OFTEN = 3
/** A session holds the plans of no more. What varies, such as with the length of a list, would be endless. */
const MOST_KEPT = 100
/** Texts that are counted; after that many the count begins anew. */
const MOST_COUNTED = 1_000

/** How often each text came, until it is `kept` under a name. The same for all sessions of a process. */
const counted = new Map<string, number>()
/** Names by texts; undefined where a session refused it once. */
const kept = new Map<string, string | undefined>()

/** A session that has another text by this name or none, or a plan for rows that look otherwise by now. */
const REFUSALS = ['26000', '42P05', '0A000']

/**
 * Has a session parse what comes often once. Postgres looks at the values of the first five times, and keeps to a
 * plan for all values from then on only where its estimate is no worse: a partial index that hangs on a value is
 * still found. A text without values goes by the simple protocol, as ever.
 *
 * @see https://www.postgresql.org/docs/current/sql-prepare.html#SQL-PREPARE-NOTES
 */
export function prepareWhatIsFrequent(session: pg.Client): void {
  const query = session.query.bind(session) as Query
  const named: Query = (asked, told) => {
    const { text, values, name } = asked as Partial<pg.QueryConfig>
    if (text === undefined || name !== undefined || !values?.length || !told) {
      return query(asked, told)
    }
    const known = nameOf(text)
    if (known === undefined) return query(asked, told)
    return query({ ...(asked as object), name: known }, (error, result) => {
      if (error && REFUSALS.includes(error.code ?? '')) kept.set(text, undefined)
      told(error, result)
    })
  }
  session.query = named as typeof session.query
}

/** As knex asks: an object, and a function that is told. */
type Query = (
  asked: unknown,
  told?: (error: (Error & { code?: string }) | null, result: unknown) => void,
) => unknown

function nameOf(text: string): string | undefined {
  if (kept.has(text) || kept.size >= MOST_KEPT) return kept.get(text)
  const count = (counted.get(text) ?? 0) + 1
  if (count < OFTEN) {
    if (counted.size >= MOST_COUNTED) counted.clear()
    counted.set(text, count)
    return undefined
  }
  counted.delete(text)
  const name = `frequent ${kept.size + 1}`
  kept.set(text, name)
  return name
}
