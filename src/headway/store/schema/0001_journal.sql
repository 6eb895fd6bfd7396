-- The journal: every record of every session, in order. Records are added, never changed, and go only with their session.
create table event (
  session text not null,
  seq     integer not null,
  kind    text not null,
  body    text not null,
  at      real not null,
  primary key (session, seq)
) strict, without rowid;

-- What a list of sessions shows. It is drawn from the journal and could be drawn again.
create table session (
  id         text primary key,
  workspace  text not null,
  created_at real not null,
  title      text not null,
  opening    text not null
) strict, without rowid;

create trigger a_record_is_never_changed before update on event
begin
  select raise(abort, 'the journal is append-only');
end;

create trigger a_record_goes_only_with_its_session before delete on event
when exists (select 1 from session where id = old.session)
begin
  select raise(abort, 'the journal is append-only');
end;
