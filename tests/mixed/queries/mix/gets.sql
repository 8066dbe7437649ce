SELECT host, seq, status, took FROM got
