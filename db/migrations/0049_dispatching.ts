/** What is to be dispatched, and what a wallet has open, is found by index, however much is over. */
export const dispatching = `
-- Of "is there anything left" the planner expects to come upon one at once, wherever it begins: where nothing is, it
-- looks through all events that are kept.
alter function dispatch_webhooks(int) set enable_seqscan = off;

-- What a wallet has open stands apart from what it was given back, of which there is more and more.
drop index if exists reservation_wallet;
create index reservation_wallet on reservation (wallet_id, chain_id, spent_block, released_at);
`
