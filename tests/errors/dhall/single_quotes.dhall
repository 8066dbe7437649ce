{ id = 'first' }
