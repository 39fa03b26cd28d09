/**
 * Shortens an identifier to its prefix and the ends of the rest.
 *
 * @param id - e.g. `intent_01m7y67v14e52t225qv2zm6kz4` or `0x69ea…`.
 * @returns e.g. `intent_01m7…6kz4`; short identifiers stay unchanged.
 */
export function shorten(id: string): string {
  const prefix = /^(0x|[a-z]+(_[a-z]+)*_)/.exec(id)?.[0] ?? ''
  const rest = id.slice(prefix.length)
  if (rest.length <= 12) return id
  return `${prefix}${rest.slice(0, 4)}…${rest.slice(-4)}`
}

const chainWords: Record<string, string> = {
  ethereum: 'Ethereum',
  arbitrum: 'Arbitrum',
  base: 'Base',
  sepolia: 'Sepolia',
}

/** `arbitrum-sepolia` as a display name: `Arbitrum Sepolia`. Unknown words stay unchanged. */
export const chainText = (chain: string) =>
  chain
    .split('-')
    .map((word) => chainWords[word] ?? word)
    .join(' ')

const protocols: Record<string, string> = {
  'aave-v3': 'Aave v3',
  'compound-v3': 'Compound v3',
  erc4626: 'ERC-4626 vault',
  cctp: 'CCTP',
  'uniswap-v3': 'Uniswap v3',
}

/** `aave-v3` as a display name. Unknown protocols stay unchanged. */
export const protocolText = (protocol: string) => protocols[protocol] ?? protocol
