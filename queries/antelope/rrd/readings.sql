-- What the server has of each step, in the order of time; a step that stands in several files once: there is but one value
-- of each column, or none, as a check demands.
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
