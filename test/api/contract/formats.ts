/** Texts as the API document describes them. */
export const isoUtc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/
export const decimalText = /^\d+(\.\d+)?$/
export const integerText = /^\d+$/
export const txHash = /^0x[0-9a-f]{64}$/
export const intentId = /^intent_.+$/
