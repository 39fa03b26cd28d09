/** Statements that several roles must not be able to run, by what they change. */

export const secrets = [
  'select sealed from wallet_secret',
  'select sealed_key from sender',
  'select sealed from treasury',
  'select * from sender',
  'select * from treasury',
  'copy wallet_secret to stdout',
]

/** Results on the chain. Only the relayer writes them. */
export const outcomes = [
  'update operation set units = 1',
  'update operation set success = true',
  "update operation set tx_hash = '0x'",
  'update operation set block_number = 1',
  "update operation set block_hash = '0x'",
  'update operation set log_index = 0',
  'update operation set gas_used = 0',
  'update operation set gas_cost_usd = 0',
  'update operation set block_time = now()',
]
/** Signatures. Only the signer writes them. */
export const signatures = [
  'select payload from signature',
  'insert into signature (operation_id) values (null)',
  "update signature set payload = '{}'",
  'delete from signature',
  'update operation set lost_leases = 0',
  'update operation set waits_for = null',
]
/** Responses of nodes to signed bytes. Only the relayer writes them. */
export const answers = [
  'update chain_tx_send set refusals = 0',
  'update chain_tx_send set sent_at = now()',
  'update chain_tx_send set leaving_at = now()',
  'update chain_tx_send set sent_block = 1',
  'insert into chain_tx_send (refusals) values (3)',
]
/** Times of changes. Only the database sets them. */
export const times = [
  'update intent set updated_at = now()',
  'update intent set ended_at = now()',
  'update operation set ended_at = now()',
  'update operation set changed_at = now()',
]
export const messages = [
  'update burn set attested_at = now()',
  "update burn set message = '0x'",
  "update burn set attestation = '0x'",
  "update burn set event_nonce = '0x'",
  "update burn set sent = '0x'",
  'update burn set burned_at = now()',
  'update burn set minted = true',
]
export const blocks = [
  'insert into chain (id) values (null)',
  'update chain set indexed_block = 0',
  "update chain set indexed_hash = '0x'",
  'insert into block_header (number) values (null)',
  "update block_header set hash = '0x'",
  'delete from block_header',
  "update chain_tx set state = 'final'",
]

/** Fees of bridges. Only the relayer writes them. */
export const fees = [
  'insert into bridge_fee (protocol) values (null)',
  'update bridge_fee set fast_millionths = 0',
  'delete from bridge_fee',
]

/** Pauses by operators and amounts counted by the signer. No role can revert them. */
export const pauses = [
  "insert into pause (scope) values ('deployment')",
  'update pause set until = now()',
  'delete from pause',
  "insert into audit_event (actor) values ('x')",
  "update audit_event set why = 'x'",
  'delete from audit_event',
  'update signed_amount set units = 1',
  "update audit_event set detail = 'x'",
]

/** The request log. Only whole batches are added, and only whole days are dropped. */
export const requests = [
  'insert into request_log (id) values (null)',
  'update request_log set status = 200',
  'delete from request_log',
  'select * from request_log_default',
  'drop table request_log_default',
  'insert into request_day (requests) values (1)',
  'update request_day set requests = 0',
]

/** Append-only tables. Whole months are dropped, and old entries summed, by functions that only the worker may call. */
export const kept = [
  'select * from intent_event_default',
  'delete from intent_event',
  'drop table intent_event_default',
  'update event_floor set id = 0',
  'update account_lent set units = 0',
  'insert into account_lent (units) values (0)',
  'update ledger set delta = 0',
  'delete from ledger',
  'update account set wallets = 0',
]
export const keeping = [
  "select create_partitions('request_log', 'day', 1)",
  "select drop_partitions('intent_event', 31)",
  'select forget_bytes(30, 1)',
  'select sum_ledger(400, 1)',
]

/** Sign-in data. No role changes the counts and the audit log. */
export const people = [
  'select * from app_user',
  'select * from sign_in_attempts',
  'insert into sign_in_attempts (subject) values (null)',
  'delete from sign_in_attempts',
  'insert into member_action (action) values (null)',
  "update member_action set action = ''",
  'delete from member_action',
]
/** Tables that processes that move money do not need. */
export const strangers = [
  ...people,
  'select * from membership',
  'select * from user_session',
  'select * from invitation',
  'select * from member_action',
  'update membership set role = role',
  "select * from admit_session('', '', 1)",
  "select * from begin_sign_in('', '')",
  "select change_password('', '')",
  "select accept_invitation('', '', '', '', '')",
  "select open_session('', '', '', '', '', '')",
  "select * from list_memberships('')",
  "select belongs_only_here('')",
  "select create_password_reset('', '')",
  "select use_password_reset('', '')",
  'select * from password_reset',
  "select switch_session('', '', '', '')",
]

/** Webhook deliveries: no role can create one for an event that did not happen. */
export const webhooks = [
  "insert into intent_event (account_id, type, data) values ('x', 'webhook.test', '{}')",
  "insert into webhook_delivery (webhook_id) values ('x')",
  'update webhook_delivery set event_id = 1',
  'update webhook_delivery set webhook_id = null',
  'update webhook_dispatch set id = 0',
  'update webhook_key set public_key = null',
  'delete from webhook_key',
  'delete from webhook',
  'delete from webhook_secret',
  "update webhook_secret set sealed = ''",
]
/** Changes that only the API makes, and changes that only the worker makes. */
export const webhooksOfApi = [
  "insert into webhook (id) values ('x')",
  "update webhook set url = ''",
  "update webhook set status = 'enabled'",
  'insert into webhook_secret (webhook_id) values (null)',
  'update webhook_secret set ends_at = null',
  "select test_webhook('')",
]
export const webhooksOfWorker = [
  'select sealed from webhook_secret',
  'insert into webhook_key (id) values (null)',
  'update webhook_delivery set attempts = null',
  'delete from webhook_delivery',
  'select * from webhook_dispatch',
  'select dispatch_webhooks(1)',
  "select disable_webhook('', '')",
]
