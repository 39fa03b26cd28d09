/** True for two spellings of one address: only its checksum lies in the case. */
export const isSameAddress = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()
