CREATE TEMPORARY TABLE readings AS
/* The records of all steps in the order of time. A step that is in several files counts once: a check ensures that they */
/* have at most one value of each column. */
SELECT
  t_ns,
  MAX(cpu) AS cpu,
  MAX(maxcpu) AS cores,
  MAX(mem) AS mem,
  MAX(maxmem) AS maxmem,
  MAX(diskread) AS disk_read,
  MAX(diskwrite) AS disk_write,
  MAX(netin) AS net_in,
  MAX(netout) AS net_out
FROM machine
GROUP BY
  t_ns;
