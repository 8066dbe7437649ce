SELECT step, users, cpu FROM cost
