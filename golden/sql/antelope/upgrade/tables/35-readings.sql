CREATE TEMPORARY TABLE readings AS
/* What the server has of each step, in the order of time; a step that stands in several files once: there is but one value */
/* of each column, or none, as a check demands. */
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
