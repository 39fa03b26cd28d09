/**
 * The charge of a POST as the last of its transaction, together with the commit: whoever waits for the account waits for
 * the database only, and not for the process that holds it.
 */
export const paying = `
-- Charges a call as charge_call does, or fails, the transaction with it, where the account has too few credits.
create function pay_call(p_account text, p_request text, p_cost bigint, p_route text)
returns void language plpgsql as $$
declare
  v_paid boolean;
  v_balance bigint;
begin
  select c.paid, c.balance into v_paid, v_balance
  from charge_call(p_account, p_request, p_cost, p_route) as c;
  if not v_paid then
    raise exception 'account % has too few credits', p_account
      using errcode = 'ST402', detail = v_balance::text;
  end if;
end $$;
revoke execute on function pay_call from public;
grant execute on function pay_call to steward_api;
`
