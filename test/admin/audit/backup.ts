import { connect } from '../../../db/client/connect.js'
import type { World } from '../../relayer/world/fixture.js'

const withDatabase = (url: string, name: string) => {
  const other = new URL(url)
  other.pathname = `/${name}`
  return other.href
}

/**
 * Copies the current database of a world.
 *
 * @returns Functions that restore the copy, which ends all sessions of the database, and that delete it.
 */
export async function takeBackup({ database: { url } }: World) {
  const name = new URL(url).pathname.slice(1)
  const copy = `${name}_backup`
  const server = connect(withDatabase(url, 'postgres'), 1)
  const endSessions = () =>
    server.raw('select pg_terminate_backend(pid) from pg_stat_activity where datname = ?', [name])
  await endSessions()
  await server.raw(`create database ${copy} template ${name}`)
  return {
    async restore() {
      await server.raw(`drop database ${name} with (force)`)
      await server.raw(`create database ${name} template ${copy}`)
    },
    async drop() {
      await server.raw(`drop database if exists ${copy} with (force)`)
      await server.destroy()
    },
  }
}
