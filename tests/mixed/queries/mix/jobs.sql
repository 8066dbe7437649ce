SELECT host, job, prio
FROM enqueued
