-- The records of all steps in the order of time. A step that is in several files counts once: a check ensures that they
-- have at most one value of each column.
SELECT
    t_ns,
    max(cpu) AS cpu,
    max(maxcpu) AS cores,
    max(mem) AS mem,
    max(maxmem) AS maxmem,
    max(diskread) AS disk_read,
    max(diskwrite) AS disk_write,
    max(netin) AS net_in,
    max(netout) AS net_out
FROM machine
GROUP BY t_ns
