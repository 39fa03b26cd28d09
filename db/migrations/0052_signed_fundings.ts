/** What the treasury has promised is found among fundings that are under way, however many operations are. */
export const signedFundings = `
create index operation_funding on operation (chain_id, state, block_number)
  where kind = 'fund' and state in ('signed', 'mined', 'confirmed');
`
