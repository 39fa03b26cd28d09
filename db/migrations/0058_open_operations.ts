/** Logs are read for operations that are not in a block yet; a reorg makes those that were open again. */
export const openOperations = `
drop index operation_unfinal;
create index operation_open on operation (chain_id) where state in ('queued', 'deferred', 'signed');
`
