/** What is under way of an intent is found among what is under way, however much was done before. */
export const underWay = `
create index operation_under_way on operation (intent_id) where state in ('queued', 'deferred', 'signed', 'mined');
`
