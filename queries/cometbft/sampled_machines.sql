-- The load average of each machine over the time of all experiments, at each second.
SELECT job, instance, avg(value ORDER BY t_ns, value) AS average_load, max(value) AS highest_load
FROM cpu
WHERE isfinite(value)
GROUP BY job, instance
