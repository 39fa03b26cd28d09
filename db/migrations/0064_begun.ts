/** What is executed is told apart by the index itself: of what waits to be begun no row is read. */
export const begun = `
drop index intent_live;
create index intent_live on intent (id, status) where status not in ('completed', 'failed');
`
