/** An ERC-4626 vault of USDC, and the Aave market in which it lends its assets. */
export type Vault = { address: string; lendsTo: { pool: string; aToken: string } }

/** Contract addresses of a chain. A missing contract is absent. */
export type Contracts = {
  usdc: string
  ethUsdFeed: string
  usdcUsdFeed?: string | undefined
  /** Another USD token that Aave lists. */
  testDollar?: string | undefined
  /** A pool, and its asset that is lent. */
  aave?: { pool: string; asset: string; aToken: string }
  /** Markets of Compound III whose base token is USDC. */
  comets?: string[]
  vaults?: Vault[]
  /** Markets that may be deployed. They are offered only where the probe finds them. */
  candidates?: Pick<Contracts, 'aave' | 'comets'>
  uniswap?: { factory: string; quoter: string; router: string } | undefined
}

/**
 * Public testnet addresses. USDC and CCTP v2: Circle's lists. Aave: aave-address-book 4.44.22. Comet: deployments in
 * Compound's repository. Uniswap v3: its list of deployments. Feeds: Chainlink's ETH / USD and USDC / USD feeds. Markets
 * are listed only if they accept Circle's USDC, or a token that a Uniswap pool can swap it into.
 * @see https://developers.circle.com/stablecoins/usdc-contract-addresses
 * @see https://developers.circle.com/cctp/references/contract-addresses
 * @see https://github.com/bgd-labs/aave-address-book
 * @see https://github.com/compound-finance/comet/tree/main/deployments
 * @see https://docs.uniswap.org/contracts/v3/reference/deployments
 * @see https://docs.chain.link/data-feeds/price-feeds/addresses
 */
export const testnetContracts = {
  'ethereum-sepolia': {
    usdc: '0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238',
    ethUsdFeed: '0x694AA1769357215DE4FAC081bf1f309aDC325306',
    usdcUsdFeed: '0xA2F78ab2355fe2f984D808B5CeE7FD0A93D5270E',
    // The token of Aave's own faucet, which is also called USDC there.
    testDollar: '0x94a9D9AC8a22534E3FaCa9F4e7F2E2cf85d5E4C8',
    aave: {
      pool: '0x6Ae43d3271ff6888e7Fc43Fd7321a503ff738951',
      asset: '0x94a9D9AC8a22534E3FaCa9F4e7F2E2cf85d5E4C8',
      aToken: '0x16dA4541aD1807f4443d92D26044C1147406EB80',
    },
    comets: ['0xAec1F48e02Cfb822Be958B68C7957156EB3F0b6e'],
    uniswap: {
      factory: '0x0227628f3F023bb0B980b67D528571c95c6DaC1c',
      quoter: '0xEd1f6473345F45b75F8179591dd5bA1888cf2FB3',
      router: '0x3bFA4769FB09eefC5a80d6E87c3B9C650f7Ae48E',
    },
  },
  'arbitrum-sepolia': {
    usdc: '0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d',
    ethUsdFeed: '0xd30e2101a97dcbAeBCBC04F14C3f624E67A35165',
    usdcUsdFeed: '0x0153002d20B96532C639313c2d54c3dA09109309',
    aave: {
      pool: '0xBfC91D59fdAA134A4ED45f7B584cAf96D7792Eff',
      asset: '0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d',
      aToken: '0x460b97BD498E1157530AEb3086301d5225b91216',
    },
    uniswap: {
      factory: '0x248AB79Bbb9bC29bB72f7Cd42F17e054Fc40188e',
      quoter: '0x2779a0CC1c3e0E44D2542EC3e79e3864Ae93Ef0B',
      router: '0x101F443B4d1b059569D643917553c771E1b9663E',
    },
  },
  'base-sepolia': {
    usdc: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    ethUsdFeed: '0x4aDC67696bA383F43DD60A9e78F2C97Fbbfc7cb1',
    // The same address as another feed on Arbitrum Sepolia.
    usdcUsdFeed: '0xd30e2101a97dcbAeBCBC04F14C3f624E67A35165',
    // An earlier Aave pool, and a Comet from a branch of Compound's repository. Aave's current pool lists only a USD
    // token of its own.
    candidates: {
      aave: {
        pool: '0xbE781D7Bdf469f3d94a62Cdcc407aCe106AEcA74',
        asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
        aToken: '0xfE45Bf4dEF7223Ab1Bf83cA17a4462Ef1647F7FF',
      },
      comets: ['0x571621Ce60Cebb0c1D442B5afb38B1663C6Bf017'],
    },
    uniswap: {
      factory: '0x4752ba5DBc23f44D87826276BF6Fd6b1C372aD24',
      quoter: '0xC5290058841028F1614F3A6F0F5816cAd0df5E27',
      router: '0x94cC0AaC535CCDB3C01d6787D6413C739ae12bc4',
    },
  },
} satisfies Record<string, Contracts>

/** CCTP v2 on every public testnet. */
export const testnetCctp = {
  tokenMessenger: '0x8FE6B999Dc680CcFDD5Bf7EB0974218be2542DAA',
  messageTransmitter: '0xE737e5cEBEEBa77EFE34D4aa090756590b1CE275',
}
