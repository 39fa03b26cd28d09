/** Compares two spellings of an address: only the checksum depends on the case. */
export const isSameAddress = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()
