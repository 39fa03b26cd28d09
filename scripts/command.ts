import { parseArgs } from 'node:util'
import { ServiceError } from '../domain/errors.js'
import type { Db } from '../db/connection/connect.js'
import type { Answer } from './accountAnswers.js'

/** Every option that some command knows. */
export const options = {
  plan: { type: 'string' },
  name: { type: 'string' },
  scopes: { type: 'string' },
  expires: { type: 'string' },
  grace: { type: 'string' },
  reference: { type: 'string' },
  account: { type: 'string' },
  email: { type: 'string' },
  role: { type: 'string' },
  operator: { type: 'boolean' },
  'base-url': { type: 'string' },
  why: { type: 'string' },
  by: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

export type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>['values']
export type Work = (db: Db) => Promise<Answer>

export type Command = {
  /** Names of its positional arguments, all of which must be given, and of the options that it knows. */
  args: string[]
  options: string[]
  /** Checks the call before anything is connected, and returns what it does. */
  prepare(values: Values, ...args: string[]): Work
}

export const misuse = (message: string) => new ServiceError('INVALID_REQUEST', message)

/** Text for one cell of a table. */
export function line(name: string, text: string | undefined): string {
  if (text === undefined) throw misuse(`${name} is missing.`)
  if (/^(?=.*\S)\P{Cc}{1,100}$/u.test(text)) return text
  throw misuse(`${name} must be a line of 1 to 100 characters.`)
}
