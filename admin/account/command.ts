import { parseArgs } from 'node:util'
import { ServiceError } from '../../domain/errors.js'
import type { Db } from '../../db/client/connect.js'
import type { CommandOutput } from './accountAnswers.js'

/** The options of all commands. */
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
export type Work = (db: Db) => Promise<CommandOutput>

export type Command = {
  /** Names of its positional arguments, all required, and of its options. */
  args: string[]
  options: string[]
  /** Validates the arguments before any connection is opened, and returns the work. */
  prepare(values: Values, ...args: string[]): Work
}

export const misuse = (message: string) => new ServiceError('INVALID_REQUEST', message)

/** Validates a text of one line. */
export function line(name: string, text: string | undefined): string {
  if (text === undefined) throw misuse(`${name} is missing.`)
  if (/^(?=.*\S)\P{Cc}{1,100}$/u.test(text)) return text
  throw misuse(`${name} must be a line of 1 to 100 characters.`)
}

/** Parses a whole number from `min` to `max`. */
export function whole(name: string, text: string, min: number, max: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : NaN
  if (number >= min && number <= max) return number
  throw misuse(`${name} must be a whole number from ${min} to ${max}.`)
}
