/** What `POST /v1/demo/fund` sends: exactly 1 USDC (6 decimals) on arbitrum-sepolia. */
export const demoFunding = { chain: 'arbitrum-sepolia', asset: 'USDC', units: 1_000_000n } as const
