import { z } from 'zod'

/** Text that Postgres and UTF-8 can hold: no NUL, no lone surrogates. */
export const safeText = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((text) => !text.includes('\0') && text.isWellFormed(), 'has invalid characters')
