-- Calls that hold the fence of a member, and may settle links. Result: their names. An advisory lock of two numbers, as
-- pg_locks shows it.
SELECT DISTINCT l.virtualtransaction AS name
FROM pg_locks l JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.classid::bigint = @fence_shown AND l.granted
