/** On which days there were requests of one path or of one caller, whatever else was asked for on others. */
export const daysOfRequests = `
create index request_day_path on request_day (account_id, substr(endpoint, strpos(endpoint, ' ') + 1), day);
create index request_day_caller on request_day (account_id, caller_id, day);
`
