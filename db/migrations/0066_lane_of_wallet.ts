/** The last transaction of a wallet is found in one look, however many of its operations are not final. */
export const laneOfWallet = `
drop index operation_wallet;
create index operation_wallet on operation (wallet_id, chain_id, tx_id)
  where state in ('signed', 'mined', 'confirmed');
`
