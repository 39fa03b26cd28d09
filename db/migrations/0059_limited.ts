/** Who waits for a daily limit is found among all that waits. */
export const limited = `
create index operation_limited on operation (wallet_id) where code = 'DAILY_LIMIT' and state in ('queued', 'deferred');
`
