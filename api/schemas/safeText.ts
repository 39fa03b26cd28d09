import { z } from 'zod'

/** No control characters, and no U+FFFD, which stands for bytes that could not be decoded. */
const printable = new RegExp(String.raw`^[^\u0000-\u001f\u007f-\u009f\ufffd]*$`)
const visible = /[^\s\p{Cf}]/u

/** Text in requests, such as an id, that means the same to every reader. */
export const safeText = (max: number) =>
  z
    .string()
    .min(1, { abort: true })
    .max(max)
    .regex(printable, 'has invalid characters')
    .refine((text) => text.isWellFormed(), 'has invalid characters')
    .refine((text) => visible.test(text), 'must not be blank')
