-- A little of everything, the same every time: no clock, no random numbers (temporary
-- files have random names).
pragma page_size=4096; pragma temp_store=memory;
create table word(id integer primary key, name text, weight real, data blob);
create index word_name on word(name);
create table edge(a int, b int, kind text, primary key(a, b)) without rowid;
with recursive n(i) as (select 1 union all select i + 1 from n limit 5000)
insert into word select i, 'w' || ((i * 7919) % 997) || substr('abcdefghijklmnop', i % 16 + 1, 3), i / 7.0, zeroblob(i % 50) from n;
with recursive n(i) as (select 1 union all select i + 1 from n limit 5000)
insert or ignore into edge select i % 101, (i * i) % 103, case i % 3 when 0 then 'x' when 1 then 'y' else 'z' end from n;
select count(*), sum(weight), max(name), min(length(data)) from word;
select kind, count(*), avg(b) from edge group by kind having count(*) > 1 order by 2 desc;
select w.name, count(*) from word w join edge e on e.a = w.id group by w.name order by 2 desc, 1 limit 10;
select name, weight from word where name like 'w1%ab%' or name glob 'w2*c?e' order by weight desc limit 20;
select a, b, row_number() over (partition by a order by b), sum(b) over (order by a, b rows 3 preceding) from edge limit 40;
with recursive reach(v, d) as (select 1, 0 union select e.b, d + 1 from reach join edge e on e.a = v where d < 4)
select d, count(*) from reach group by d;
create view heavy as select * from word where weight > 100;
create trigger moved after update on word when new.weight > 200 begin insert or replace into edge values(new.id, -new.id, 'moved'); end;
update word set weight = weight * 1.5, name = upper(name) where id % 3 = 0;
select count(*) from heavy; select count(*) from edge where kind = 'moved';
begin; delete from word where id % 5 = 0; savepoint s; update word set name = null where id % 7 = 0; rollback to s; commit;
select count(*), count(distinct name) from word;
select printf('%08.3f|%-10s|%x', 3.14159, 'abc', 255), replace('a-b-c', '-', '+'), instr('hello', 'l'), hex(x'0102'), quote('it''s'), round(2.567, 2), abs(-5), unicode('A'), char(66, 67);
select date('2020-02-28', '+1 month'), strftime('%j %W', '2021-12-31'), julianday('2000-01-01 12:00'), time(3661, 'unixepoch');
select json_extract('{"a":[1,2,{"b":3}]}', '$.a[2].b'), json_group_array(id) from (select id from word limit 5);
select key, value, type from json_tree('{"x":{"y":[true,null,1.5,"s"]}}');
create virtual table text using fts5(body);
insert into text select 'the ' || name || ' and ' || (id % 17) || ' quick brown foxes' from word where name is not null limit 500;
select count(*) from text where text match 'quick AND 7'; select rowid, snippet(text, 0, '[', ']', '.', 4) from text where text match 'w1*' limit 5;
create virtual table box using rtree(id, x0, x1, y0, y1);
insert into box select id, id % 40, id % 40 + 3, id % 30, id % 30 + 2 from word;
select count(*) from box where x0 > 10 and x1 < 25 and y0 > 5;
explain query plan select * from word join edge on a = id where name > 'w5' order by b;
create table copy as select * from word order by name, id; create unique index copy_id on copy(id);
select name from copy except select name from word where id < 1000 limit 5;
select total(weight), group_concat(id) from copy where id between 10 and 30 and name not null;
select sin(1.0) > 0.84, pow(2, 10), ln(exp(1.0)), sqrt(2) from (values(1),(2));
alter table copy add column extra default 7; alter table copy rename to copied; drop index copy_id; analyze; reindex;
pragma integrity_check; vacuum;
select type, name, tbl_name from sqlite_schema order by 1, 2;
.mode csv
select * from word limit 3;
.mode box
select id, name from word limit 3;
.schema word
.dump edge
select broken from nothing;
