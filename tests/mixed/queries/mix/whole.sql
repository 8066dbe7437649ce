SELECT 1 AS nr, min(t_ns) AS from_ns, max(t_ns) AS to_ns FROM queue
