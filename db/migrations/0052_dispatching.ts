/** What is to be dispatched is found by index, also when there is nothing. */
export const dispatching = `
-- Of "is there anything left" the planner expects to come upon one at once, wherever it begins: where nothing is, it
-- looks through all events that are kept.
alter function dispatch_webhooks(int) set enable_seqscan = off;
`
