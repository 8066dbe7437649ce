{ value = zzz }
