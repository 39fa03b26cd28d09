/** What bridges cost: one process asks for it, every plan reads it here. */
export const bridgeFees = `
create table bridge_fee (
  protocol text not null,
  from_chain text not null,
  to_chain text not null check (to_chain <> from_chain),
  fast_millionths bigint check (fast_millionths between 0 and 1000000),
  standard_millionths bigint check (standard_millionths between 0 and 1000000),
  read_at timestamptz not null default clock_timestamp(),
  primary key (protocol, from_chain, to_chain)
);
comment on table bridge_fee is
  'What the service of a bridge said last of each way, however long ago. No row: it has never said anything.';
comment on column bridge_fee.fast_millionths is 'Of the amount. Null: this way is not offered.';
comment on column bridge_fee.standard_millionths is 'Of the amount. Null: this way is not offered.';

grant select on bridge_fee to steward_api, steward_worker, steward_lanes;
grant insert, update on bridge_fee to steward_lanes;
`
