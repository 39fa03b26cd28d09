/** The sweeper looks at what is not over page by page, by id: a page costs what it holds, however much is not over. */
export const lingering = `
drop index intent_live;
create index intent_live on intent (id) where status not in ('completed', 'failed');
`
