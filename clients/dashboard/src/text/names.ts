/** The display names of chains, protocols and markets. The API returns their ids. Unknown ids stay unchanged. */

const chainWords: Record<string, string> = {
  ethereum: 'Ethereum',
  arbitrum: 'Arbitrum',
  base: 'Base',
  sepolia: 'Sepolia',
}

const protocols: Record<string, string> = {
  'aave-v3': 'Aave v3',
  'compound-v3': 'Compound v3',
  erc4626: 'ERC-4626 vault',
  cctp: 'CCTP',
  'uniswap-v3': 'Uniswap v3',
}

/** `arbitrum-sepolia` as `Arbitrum Sepolia`. */
export function chainText(chain: string): string {
  const words = chain.split('-')
  return words.every((word) => word in chainWords)
    ? words.map((word) => chainWords[word]).join(' ')
    : chain
}

/** `aave-v3` as `Aave v3`. */
export const protocolText = (protocol: string) => protocols[protocol] ?? protocol

type MarketPlace = { protocol?: string | undefined; chain: string }

/** A market: `Aave v3 on Base Sepolia`. Without a protocol, the chain. */
export const marketText = ({ protocol, chain }: MarketPlace) =>
  protocol ? `${protocolText(protocol)} on ${chainText(chain)}` : chainText(chain)

/** Words with a hyphen, and the protocols without one. Parts of addresses and paths are no ids. */
const IDS = /(?<![\w/.-])(?:[a-z\d]+(?:-[a-z\d]+)+|erc4626|cctp)(?![\w/-])/g

/** A sentence of the API with the ids of chains and protocols as names. */
export const namesIn = (sentence: string) =>
  sentence.replace(IDS, (id) => protocols[id] ?? chainText(id))
