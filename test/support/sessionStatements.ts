import type { Db } from '../../db/connection/connect.js'

type Session = { query(...args: unknown[]): unknown }
type Pool = { acquireConnection(): Promise<Session> }

/**
 * What a pool sends from now on, in that order: the name of a statement that has one, else its text. Also what passes
 * by knex, of which it tells nobody.
 */
export function recordStatements(db: Db): string[] {
  const sent: string[] = []
  const heard = new WeakSet<Session>()
  const pool = db.client as Pool
  const acquire = pool.acquireConnection.bind(pool)
  pool.acquireConnection = async () => {
    const session = await acquire()
    if (!heard.has(session)) listen(session, sent)
    heard.add(session)
    return session
  }
  return sent
}

function listen(session: Session, sent: string[]): void {
  const query = session.query.bind(session)
  session.query = (asked, ...rest) => {
    const { name, text } = typeof asked === 'string' ? { text: asked } : (asked as Asked)
    sent.push(name ?? text)
    return query(asked, ...rest)
  }
}

type Asked = { name?: string; text: string }
