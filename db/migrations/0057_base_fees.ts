/** What gas costs at the booked block is known with it, so that no plan asks a node. */
export const baseFees = `
alter table chain add base_fee_wei numeric;
comment on column chain.base_fee_wei is 'Of the booked block. Null: its header has not told.';
grant update (base_fee_wei) on chain to steward_lanes;
`
