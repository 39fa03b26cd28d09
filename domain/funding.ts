/** The most fundings that a day may bring, of one wallet and of one account; 0: as many as are asked for. */
export type FundingLimits = { perWallet: number; perAccount: number }

/** How far a funding is. */
export const fundingStatuses = ['pending', 'completed', 'failed'] as const
export type FundingStatus = (typeof fundingStatuses)[number]

/** What `POST /v1/demo/fund` sends: exactly 1 USDC (6 decimals) on arbitrum-sepolia. */
export const demoFunding = { chain: 'arbitrum-sepolia', asset: 'USDC', units: 1_000_000n } as const
