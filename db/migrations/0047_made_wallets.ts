/** A wallet is stored by one call, at a cost that does not hang on how many its account has. */
export const madeWallets = `
-- Whether a row's wallet is the account's is looked up by its id. As a list, all wallets of the account would be read
-- for each statement; a scalar subquery is one that Postgres never makes a list of.
alter policy own_account on wallet_secret
  with check ((select true from wallet w where w.id = wallet_secret.wallet_id));
alter policy own_account on reservation
  using ((select true from wallet w where w.id = reservation.wallet_id))
  with check ((select true from wallet w where w.id = reservation.wallet_id));
alter policy own_stops on stop using (scope in ('chain', 'deployment') or subject = current_account((select true))
  or (select true from wallet w where w.id = stop.subject));

-- Stores a wallet with its sealed key, as whoever calls: what his policies forbid stays forbidden. No row, and nothing
-- is stored, when the user has a wallet. made_before: how many the account had.
create function insert_wallet(p_id text, p_account text, p_user text, p_address text, p_metadata json, p_kek text,
  p_sealed bytea)
returns table (made_at timestamptz, made_before int, made_limit int) language plpgsql as $$
begin
  select a.wallets, a.max_wallets into made_before, made_limit from account a where a.id = p_account;
  insert into wallet as w (id, account_id, user_id, address, metadata)
  values (p_id, p_account, p_user, p_address, p_metadata)
  on conflict (account_id, user_id) do nothing
  returning w.created_at into made_at;
  if not found then return; end if;
  insert into wallet_secret (wallet_id, kek_id, sealed) values (p_id, p_kek, p_sealed);
  return next;
end $$;
revoke execute on function insert_wallet from public;
grant execute on function insert_wallet to steward_api;
`
